"""Finding groups by name: `module:NAME`, as given on the command line.

What goes wrong here is almost always a slip of the person who typed the name, so every refusal
says what was looked for, where, and what was found instead.
"""

import importlib
import importlib.util
import re
import traceback
from types import ModuleType
from typing import Final

from apiserver.group import Group

_REFERENCE: Final = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


class GroupError(Exception):
    """A group cannot be loaded; the message says why."""


def load_group(reference: str) -> Group:
    """The Group that `module:NAME` stands for, or GroupError."""
    parts = _REFERENCE.fullmatch(reference)
    if parts is None:
        raise GroupError(f"group {reference!r}: expected MODULE:GROUP, such as gadgets:GADGETS")
    module = _module(parts["module"], reference)
    if not hasattr(module, parts["name"]):
        raise GroupError(
            f"group {reference!r}: module {parts['module']} has no {parts['name']}"
            f"{_suggestion(module)}"
        )
    found = getattr(module, parts["name"])
    if not isinstance(found, Group):
        raise GroupError(
            f"group {reference!r}: {parts['name']} is of type {type(found).__name__}, "
            f"not a Group{_suggestion(module)}"
        )
    return found


def _module(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Only a part of the name itself: what the module cannot import is another story.
        if error.name and f"{name}.".startswith(f"{error.name}."):
            raise GroupError(
                f"group {reference!r}: there is no module {error.name}; modules are looked for "
                "in the current folder and among the installed packages"
            ) from error
        raise GroupError(_failed(name, reference, error)) from error
    except SyntaxError as error:
        where = f"{error.filename}, line {error.lineno}"
        raise GroupError(f"group {reference!r}: {where}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise GroupError(_failed(name, reference, error)) from error


def _failed(name: str, reference: str, error: BaseException) -> str:
    # The last frame outside of the import machinery is where the author has to look.
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "importlib" not in f.filename and f.filename != __file__]
    where = f" ({own[-1].filename}, line {own[-1].lineno})" if own else ""
    return f"group {reference!r}: importing {name} failed: {type(error).__name__}: {error}{where}"


def _suggestion(module: ModuleType) -> str:
    groups = sorted(name for name, value in vars(module).items() if isinstance(value, Group))
    return f"; the groups in it are {', '.join(groups)}" if groups else "; no Group is in it"
