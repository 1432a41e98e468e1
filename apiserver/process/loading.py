"""Group loading: imports a group, or several, by `module:NAME`, as given on the command line.

Most failures here are typos in the name, so every error message names what was searched, where, and
what exists instead.
"""

import importlib
import re
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Final, TypeGuard

from apiserver.group import Group

_REFERENCE: Final = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


class GroupError(Exception):
    """A group cannot be loaded; the message gives the reason."""


def load_groups(reference: str) -> tuple[Group, ...]:
    """Import the Group, or the tuple of them, that `module:NAME` refers to. Raises GroupError."""
    parts = _REFERENCE.fullmatch(reference)
    if parts is None:
        raise GroupError(f"group {reference!r}: expected MODULE:GROUP, such as gadgets:GADGETS")
    module = _import_module(parts["module"], reference)
    if not hasattr(module, parts["name"]):
        raise GroupError(
            f"group {reference!r}: module {parts['module']} has no {parts['name']}"
            f"{_suggestion(module)}"
        )
    value = getattr(module, parts["name"])
    if isinstance(value, Group):
        return (value,)
    if _is_groups(value):
        return tuple(value)
    raise GroupError(
        f"group {reference!r}: {parts['name']} is {_described(value)}, "
        f"not a Group{_suggestion(module)}"
    )


def _is_groups(value: object) -> TypeGuard[Sequence[Group]]:
    """Return whether a value is a tuple or list of groups, at least one."""
    if not isinstance(value, tuple | list) or not value:
        return False
    return all(isinstance(each, Group) for each in value)


def _described(value: object) -> str:
    name = type(value).__name__
    if not isinstance(value, tuple | list):
        return f"of type {name}"
    others = [type(each).__name__ for each in value if not isinstance(each, Group)]
    return f"a {name} with {others[0]}" if others else f"an empty {name}"


def _import_module(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Only if the module itself is missing, not one that it imports.
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise GroupError(
                f"group {reference!r}: there is no module {error.name}; modules are imported "
                "from the current folder and the installed packages"
            ) from error
        raise GroupError(_import_failure(name, reference, error)) from error
    except SyntaxError as error:
        location = f"{error.filename}, line {error.lineno}"
        raise GroupError(f"group {reference!r}: {location}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise GroupError(_import_failure(name, reference, error)) from error


def _import_failure(name: str, reference: str, error: BaseException) -> str:
    # The last frame outside the import machinery is where the error is.
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [
        frame
        for frame in frames
        if "importlib" not in frame.filename and frame.filename != __file__
    ]
    location = (
        f" ({user_frames[-1].filename}, line {user_frames[-1].lineno})" if user_frames else ""
    )
    return (
        f"group {reference!r}: importing {name} failed: {type(error).__name__}: {error}{location}"
    )


def _suggestion(module: ModuleType) -> str:
    groups = sorted(
        name
        for name, value in vars(module).items()
        if isinstance(value, Group) or _is_groups(value)
    )
    return f"; the groups in it are {', '.join(groups)}" if groups else "; no Group is in it"
