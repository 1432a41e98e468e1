"""What can be wrong with a patch, told apart by the HTTP status it becomes.

PatchError
  MalformedPatch   400  the patch is not one, whatever the document
  PatchFailed      422  the patch does not fit this document or this type
  PatchTooLarge    413  the patch asks for more work than one request may
"""

from apimachinery.fieldpath import printable


class PatchError(ValueError):
    """A patch cannot be read, applied or created."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(printable(f"{path}: {message}" if path else message))
        self.message = message
        """The rule that was broken; Kubernetes' own words where it has some."""
        self.path = path
        """The field of the document that was being patched; empty at its root."""


class MalformedPatch(PatchError):
    """The patch breaks the rules of its own format."""


class PatchFailed(PatchError):
    """A well-formed patch does not fit: a test failed, a path is missing, a type is another."""


class PatchTooLarge(PatchError):
    """The patch has too many operations or copies too much."""
