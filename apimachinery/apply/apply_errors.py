"""What can go wrong in server-side apply.

    ApplyError                 a ValueError: the input is at fault
      InvalidFieldSet          a text that is no FieldsV1
      InvalidManagedFields     a `metadata.managedFields` that cannot be read
      InvalidValue             a value that does not have the shape of its type
      InvalidPatch             an applied configuration that breaks a rule of apply itself
      MissingVersion           a version nothing can be converted to any more
      ApplyConflict            (in conflicts.py) others own what this apply would change

Nothing else is raised by this package for bad input.
"""

from dataclasses import dataclass


class ApplyError(ValueError):
    """Root of all errors of server-side apply."""


class InvalidFieldSet(ApplyError):
    """A FieldsV1 that cannot be read; the message says where."""


class InvalidManagedFields(ApplyError):
    """A list of managed fields entries that cannot be read."""


class InvalidPatch(ApplyError):
    """An applied configuration of the wrong version, or one that says who manages it."""


class MissingVersion(ApplyError):
    """A version that is not served (any more).

    A `convert` function raises it; what was written in that version is then forgotten.
    """


@dataclass(frozen=True, slots=True)
class ApplyProblem:
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InvalidValue(ApplyError):
    """All the places where a value does not have its shape."""

    def __init__(self, *problems: ApplyProblem, context: str = "") -> None:
        super().__init__(_told(problems, context))
        self.problems = problems

    def under(self, element: str) -> "InvalidValue":
        """The same problems, told from one level higher."""
        return InvalidValue(*(ApplyProblem(element + p.path, p.message) for p in self.problems))


def _told(problems: tuple[ApplyProblem, ...], context: str) -> str:
    prefix = f"{context}: " if context else ""
    if len(problems) == 1:
        return f"{prefix}{problems[0]}"
    return prefix + "\n".join(["errors:", *(f"  {problem}" for problem in problems)])
