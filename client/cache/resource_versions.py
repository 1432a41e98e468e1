"""resourceVersions compared, which is allowed within one resource and nowhere else.

They are decimal numbers without leading zeros, of any length: the longer one is newer, and of two
equally long ones the greater text. Nothing needs to be parsed.
"""


class InvalidResourceVersion(ValueError):
    """A text that says nothing about the age of an object."""


def compare(one: str, other: str) -> int:
    """Below zero if *one* is older than *other*, zero if they are equal, above if it is newer."""
    for version in (one, other):
        if not is_valid(version):
            raise InvalidResourceVersion(f"resource version is not well formed: {version!r}")
    if len(one) != len(other):
        return -1 if len(one) < len(other) else 1
    return (one > other) - (one < other)


def is_valid(version: str) -> bool:
    """Whether *version* can be compared: a number, not 0, without leading zeros."""
    return version.isascii() and version.isdecimal() and version[0] != "0"


def has_reached(version: str, wanted: str) -> bool:
    """Whether a state of *version* shows all up to *wanted*; one without a number does not."""
    return is_valid(version) and compare(version, wanted) >= 0
