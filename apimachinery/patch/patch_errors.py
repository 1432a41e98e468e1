"""Patch errors, one class per HTTP status.

PatchError
  MalformedPatch   400  the patch is invalid for any document
  PatchFailed      422  the patch does not fit this document or its type
  PatchTooLarge    413  the patch exceeds the work allowed for one request
"""

from apimachinery.fieldpath import printable


class PatchError(ValueError):
    """A patch cannot be decoded, applied or created."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(printable(f"{path}: {message}" if path else message))
        self.message = message
        """The violated rule, in the words of Kubernetes where it has a message for it."""
        self.path = path
        """The patched field of the document; empty at the root."""


class MalformedPatch(PatchError):
    """The patch violates its own format."""


class PatchFailed(PatchError):
    """A well-formed patch does not fit: a test fails, a path is missing or a type differs."""


class PatchTooLarge(PatchError):
    """The patch has too many operations or copies too much."""
