"""Controllers of workloads by name, for `apiserver controllers`.

They are ordinary controllers: each module has a function `setup` that adds one to a manager. They
run in a process of their own, next to our server or in place of those of any cluster.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from apimachinery.scheme import Scheme
from apis.kubernetes import KUBERNETES
from client.controller.manager import Manager

ALL: Final = "*"
"""In a selection: every controller."""

CONTROLLERS: Final[Mapping[str, str]] = {
    "deployment": "apis.apps.controllers.deployment",
    "disruption": "apis.policy.controllers.disruption",
    "replicaset": "apis.apps.controllers.replica_set",
    "replicationcontroller": "apis.core.controllers.replication_controller",
}
"""Name -> the module of the controller, imported when it is chosen."""


class UnknownController(ValueError):
    """A selection names a controller that does not exist."""


def select(selection: Sequence[str], known: Mapping[str, str] = CONTROLLERS) -> list[str]:
    """Return the names that *selection* chooses: `*` for all, `job` for one, `-job` without it.

    As in kube-controller-manager the order does not matter, and a name without `*` stands for
    itself only. Raises UnknownController.
    """
    names = {name.removeprefix("-") for name in selection} - {ALL}
    if unknown := sorted(names.difference(known)):
        raise UnknownController(
            f"unknown controllers: {', '.join(unknown)} (known: {', '.join(sorted(known))})"
        )
    return [
        name
        for name in known
        if f"-{name}" not in selection and (name in selection or ALL in selection)
    ]


def add_controllers(manager: Manager, names: Sequence[str]) -> None:
    """Add the controllers of these names to a manager."""
    for name in names:
        setup: Callable[[Manager], None] = import_module(CONTROLLERS[name]).setup
        setup(manager)


def scheme() -> Scheme:
    """Return the scheme that a client of these controllers needs."""
    kinds = Scheme()
    for group in KUBERNETES:
        group.add_to_scheme(kinds)
    return kinds
