"""Four releases of one group, for servers in processes of their own."""

from typing import Any

from apimachinery.model.model import field
from apimachinery.scheme import Scheme
from tests.apiserver.evolution.releases import release

_FIRST = {"color": (str, ""), "watts": (int, 0)}
_SECOND = {**_FIRST, "note": (str, ""), "socket": (str, "E27")}
_THIRD = {**_SECOND, "maker": (str, ""), "watts": (int, field(0, le=500))}
_RENAMED = {**{name: each for name, each in _THIRD.items() if name != "color"}, "tint": (str, "")}


def _rename(scheme: Scheme, cls: type[Any]) -> None:
    scheme.add_upgrade(cls, renames={"spec.color": "spec.tint"})


FIRST = release(_FIRST)
SECOND = release(_SECOND)
"""Adds an optional field and one with a default."""
THIRD = release(_THIRD)
"""Adds another field and tightens a rule."""
RENAMED = release(_RENAMED, _rename)

RELEASES = {1: FIRST, 2: SECOND, 3: THIRD}
SINCE = {"color": 1, "watts": 1, "note": 2, "socket": 2, "maker": 3}
"""The release that added each field."""
