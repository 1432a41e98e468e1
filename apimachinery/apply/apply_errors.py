"""Errors of server-side apply.

    ApplyError                 a ValueError: the input is at fault
      InvalidFieldSet          malformed FieldsV1
      InvalidManagedFields     malformed `metadata.managedFields`
      InvalidValue             a value that does not match the shape of its type
      InvalidPatch             an applied configuration that breaks a rule of apply itself
      MissingVersion           a version that objects can no longer be converted to
      ApplyConflict            (in conflicts.py) other managers own fields the apply would change

The package raises no other errors for bad input.
"""

from dataclasses import dataclass


class ApplyError(ValueError):
    """Base class of all server-side apply errors."""


class InvalidFieldSet(ApplyError):
    """FieldsV1 cannot be decoded; the message includes the position."""


class InvalidManagedFields(ApplyError):
    """The list of managedFields entries cannot be decoded."""


class InvalidPatch(ApplyError):
    """The applied configuration has the wrong version, or sets `metadata.managedFields`."""


class MissingVersion(ApplyError):
    """A version is not served, or no longer served.

    Raised by `convert` functions. Managers that wrote in that version are then dropped.
    """


@dataclass(frozen=True, slots=True)
class ApplyProblem:
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidValue(ApplyError):
    """A value does not match its shape; carries every problem with its path."""

    def __init__(self, *problems: ApplyProblem, context: str = "") -> None:
        super().__init__(_format_problems(problems, context))
        self.problems = problems

    def under(self, element: str) -> "InvalidValue":
        """Return the error with every problem path prefixed by *element*."""
        return InvalidValue(*(ApplyProblem(element + p.path, p.message) for p in self.problems))


def _format_problems(problems: tuple[ApplyProblem, ...], context: str) -> str:
    prefix = f"{context}: " if context else ""
    if len(problems) == 1:
        return f"{prefix}{problems[0]}"
    return prefix + "\n".join(["errors:", *(f"  {problem}" for problem in problems)])
