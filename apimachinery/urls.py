"""URLs as Go's `net/url` splits them, with its error messages, for fields that contain a URL."""

import re
from dataclasses import dataclass
from typing import Final

from apimachinery.fieldpath import quote

_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_NOT_IN_HOSTS: Final = re.compile(r"[^a-zA-Z0-9\-._~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]")


class MalformedURL(ValueError):
    """A text is not a URL."""


@dataclass(frozen=True, slots=True)
class ParsedURL:
    """The parts of a URL."""

    scheme: str
    user: str | None
    host: str
    """With the port, if there is one."""
    path: str
    query: str
    fragment: str


def parse_url(text: str) -> ParsedURL:
    """Split a URL; raise MalformedURL with Go's message if it is not one."""
    before, _, fragment = text.partition("#")
    try:
        if _CONTROL.search(before):
            raise MalformedURL("net/url: invalid control character in URL")
        scheme, rest = _split_scheme(before)
        rest, _, query = rest.partition("?")
        user, host, path = _split_authority(rest, has_scheme=bool(scheme))
        _check_escapes(path)
    except MalformedURL as error:
        raise MalformedURL(f"parse {quote(before)}: {error}") from None
    return ParsedURL(scheme.lower(), user, host, path, query, fragment)


def _split_scheme(text: str) -> tuple[str, str]:
    before, colon, rest = text.partition(":")
    if not colon:
        return "", text
    if not before:
        raise MalformedURL("missing protocol scheme")
    if _SCHEME.fullmatch(before):
        return before, rest
    return "", text


def _split_authority(text: str, *, has_scheme: bool) -> tuple[str | None, str, str]:
    if not text.startswith("//"):
        if not has_scheme and ":" in text.partition("/")[0]:
            raise MalformedURL("first path segment in URL cannot contain colon")
        return None, "", text
    authority, slash, path = text[2:].partition("/")
    user, at, host = authority.rpartition("@")
    _check_host(host)
    return (user if at else None), host, slash + path


def _check_host(host: str) -> None:
    name, colon, port = host.partition(":")
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise MalformedURL("missing ']' in host")
        name, colon, port = host[: end + 1], host[end + 1 : end + 2], host[end + 2 :]
    if colon and (colon != ":" or not all("0" <= digit <= "9" for digit in port)):
        raise MalformedURL(f"invalid port {quote(colon + port)} after host")
    if odd := _NOT_IN_HOSTS.search(host):
        raise MalformedURL(f"invalid character {quote(odd[0])} in host name")
    _check_escapes(name)


def _check_escapes(text: str) -> None:
    if odd := _ESCAPE.search(text):
        raise MalformedURL(f"invalid URL escape {quote(text[odd.start() : odd.start() + 3])}")
