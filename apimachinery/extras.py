"""Extras: the optional dependencies, and an error that names the extra to install.

`pip install apimachinery` installs the library and the client. Anything else is imported late,
inside `name_missing_extra`:

    with name_missing_extra():
        from cel_expr_python import cel
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

EXTRAS: Final = {
    **dict.fromkeys(("cel_expr_python", "re2"), "cel"),
    **dict.fromkeys(("aetcd", "grpc", "hpack"), "etcd"),
    **dict.fromkeys(("cryptography", "falcon", "gunicorn", "jwt", "sortedcontainers"), "server"),
    **dict.fromkeys(("aiohttp_socks",), "socks"),
    **dict.fromkeys(("hypothesis", "pytest", "pytest_asyncio"), "testing"),
}
"""Top-level module -> the extra that installs it."""


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message contains the command to install it."""


@contextmanager
def name_missing_extra(smallest: str = "") -> Iterator[None]:
    """Raise MissingExtra for an import that fails because an extra is not installed.

    *smallest* is the extra to name if several have the package. Other import errors pass: a module
    missing from the caller's own code is not an extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        extra = smallest or EXTRAS[package]
        raise MissingExtra(
            f"{package} is not installed: pip install 'apimachinery[{extra}]'",
            name=error.name,
        ) from error
