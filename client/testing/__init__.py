"""Testing controllers and clients against the real server, in this process and without a cluster.

    async def test_config_map_is_created(env):
        async with env.manager(setup) as mgr:
            await env.client.of(Gadget).create({"metadata": {"name": "a"}, "spec": {"model": "m"}})
            await mgr.settled()
            assert await env.get(ConfigMap, "a-case")

`apimachinery.testing.plugin` provides the fixtures `env` and `clock` to pytest; `environment` is
the same for any other program. The names are loaded on first use, the server when an environment
starts: it needs `pip install 'apimachinery[testing]'`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from client.testing.env import Environment, cluster_environment, environment
    from client.testing.fake_clock import FakeClock
    from client.testing.faults import Faults
    from client.testing.settling import NotSettled

__all__ = [
    "Environment",
    "FakeClock",
    "Faults",
    "NotSettled",
    "cluster_environment",
    "environment",
]

_MODULES = {"FakeClock": "fake_clock", "Faults": "faults", "NotSettled": "settling"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'env')}"), name)
