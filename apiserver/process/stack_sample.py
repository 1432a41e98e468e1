"""Stack sample: what a thread is running now, and on whose behalf.

The frames of a task that is running include those of all coroutines that await each other, so the
gate, with the request being served, is on the stack of every step of a request.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from apiserver.http.exchange import Exchange

MOST_FRAMES: Final = 12
"""The number of frames kept, the innermost ones."""

_EXCHANGE: Final = "exchange"
"""The name of the local variable that holds the state of a request."""


@dataclass(frozen=True, slots=True)
class StackSample:
    """The innermost frames of a thread."""

    frames: tuple[str, ...]
    """Function, file and line of each frame, the outermost first."""
    group: str = ""
    """The innermost module on the stack that belongs to a group of the user's, if any."""
    request: dict[str, str] = field(default_factory=dict)
    """ID, verb, path and user of the request being served, if any."""


def sample_stack(frame: FrameType | None, packages: Collection[str] = ()) -> StackSample:
    """Describe the stack that ends in *frame*; modules in *packages* are those of groups."""
    frames: list[str] = []
    group = ""
    request: dict[str, str] = {}
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if len(frames) < MOST_FRAMES:
            frames.append(f"{module}.{frame.f_code.co_name}:{frame.f_lineno}")
        if not group and module.partition(".")[0] in packages:
            group = module
        if not request and _EXCHANGE in frame.f_code.co_varnames:
            request = _request_of(frame.f_locals.get(_EXCHANGE))
        frame = frame.f_back
    return StackSample(tuple(reversed(frames)), group, request)


def _request_of(exchange: object) -> dict[str, str]:
    if not isinstance(exchange, Exchange):
        return {}
    return {
        "request": exchange.request_id,
        "verb": exchange.info.verb,
        "path": exchange.info.path,
        "user": exchange.user.name,
    }
