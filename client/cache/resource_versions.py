"""Comparison of resourceVersions, which is only meaningful within one resource.

They are decimal numbers of any length without leading zeros: the longer one is newer, and of two
of equal length the one that sorts later. No number needs to be parsed.
"""


class InvalidResourceVersion(ValueError):
    """A resourceVersion that cannot be compared."""


def compare(left: str, right: str) -> int:
    """Return -1 if *left* is older than *right*, 0 if they are equal, and 1 if it is newer.

    Raises InvalidResourceVersion if one of them is not a valid number.
    """
    for version in (left, right):
        if not is_valid(version):
            raise InvalidResourceVersion(f"resource version is not well formed: {version!r}")
    if len(left) != len(right):
        return -1 if len(left) < len(right) else 1
    return (left > right) - (left < right)


def is_valid(version: str) -> bool:
    """Return whether *version* can be compared: a number without leading zeros, and not 0."""
    return version.isascii() and version.isdecimal() and version[0] != "0"


def has_reached(version: str, target: str) -> bool:
    """Return whether *version* is at least as new as *target*; False if it is not a number."""
    return is_valid(version) and compare(version, target) >= 0
