"""The stored bytes of every kind. A difference here is a migration of what users have stored.

Nothing writes these files by itself. Whoever changes a stored form on purpose runs
`python -m tests.golden` and explains the difference.
"""

from pathlib import Path

from apimachinery.meta.types import Object
from apimachinery.storage_codec import StorageCodec
from tests.apis.filled import filled
from tests.apis.groups import GROUPS, full_scheme

FOLDER = Path(__file__).parent


def stored_kinds() -> dict[str, type[Object]]:
    """Name of the file -> internal class, of every resource that is stored."""
    return {
        f"{group.name or 'core'}/{resource.kind}.json": resource.cls
        for group in GROUPS
        for resource in group.resources
        if resource.answer is None and resource.stored_as is None
    }


def stored_bytes(cls: type[Object]) -> bytes:
    """What the store holds for an object with every field set."""
    return StorageCodec(full_scheme()).encode(filled(cls)) + b"\n"
