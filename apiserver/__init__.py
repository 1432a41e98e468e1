"""The server half: `create_app(config)` builds the ASGI application of a configuration."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apiserver.controlplane.standard_server import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    # Imported late: the groups that a server is composed of import parts of this package.
    if name == "create_app":
        from apiserver.controlplane.standard_server import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
