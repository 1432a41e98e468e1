"""What users import, by the names and from the places that the documentation promises."""

import importlib
import subprocess
import sys

import pytest

PUBLIC = {
    "apimachinery": "Path FieldErrors required invalid forbidden duplicate not_supported",
    "apiserver": "Group Resource Subresource STATUS scale Strategy Column Attributes create_app",
    "client": "AsyncClient Client Config Conflict NotFound APIError retry_on_conflict",
    "client.controller": (
        "Context Manager Result NamespacedName Terminal Finalizers EventRecorder LeaderElection"
        " Kind Owned Channel Stream Mapped generation_changed all_of WorkQueue PriorityQueue"
        " RateLimiter NotFound Conflict LeadershipLost ReconcileTimeout"
    ),
    "client.testing": "environment Environment FakeClock Faults NotSettled",
    "apimachinery.testing": "assert_roundtrip objects Strategies",
}
HEAVY = ("falcon", "gunicorn", "grpc", "cryptography", "aiohttp")


@pytest.mark.parametrize(("module", "names"), PUBLIC.items())
def test_the_package_exports_what_users_import(module: str, names: str) -> None:
    package = importlib.import_module(module)

    assert [name for name in names.split() if not hasattr(package, name)] == []
    assert set(names.split()) <= set(package.__all__)
    assert list(package.__all__) == sorted(set(package.__all__), key=package.__all__.index)


def test_a_name_that_is_not_exported_is_an_ordinary_error() -> None:
    for module in ("apiserver", "client.testing", "apimachinery.testing"):
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = importlib.import_module(module).nonsense


def test_importing_what_a_group_needs_loads_no_server() -> None:
    script = f"""
import sys
from apiserver import STATUS, Attributes, Column, Group, Resource, Strategy
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert run.stdout == b"[]\n"
