"""The architecture as a test: which folder may import which, and where third parties enter.

Reads the source, imports nothing. A failure asks a question about the design: answer it before
changing a table.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("apimachinery", "apiserver", "apis", "client")

# Folder or module -> what it may import of ours beside its own folder. The first row that matches
# a module counts; `x` covers the folder x and everything below it, `x/` the files directly in x.
LAYERS: dict[str, str] = {
    # apimachinery: pure values, bottom up
    "apimachinery.testing": "apimachinery",
    "apimachinery.model": "apimachinery.fieldpath apimachinery.scalars",
    "apimachinery.lenient": "apimachinery.fieldpath apimachinery.model apimachinery.scalars",
    "apimachinery.scalars": "apimachinery.fieldpath",
    "apimachinery.selectors": "apimachinery/ apimachinery.scalars",
    "apimachinery.meta": (
        "apimachinery/ apimachinery.model apimachinery.scalars apimachinery.selectors"
    ),
    "apimachinery.evolution": "apimachinery.model apimachinery.scalars",
    "apimachinery.conversion": (
        "apimachinery/ apimachinery.lenient apimachinery.model apimachinery.meta"
    ),
    "apimachinery.serialization": "apimachinery/ apimachinery.model apimachinery.meta",
    "apimachinery.patch": "apimachinery/ apimachinery.model",
    "apimachinery.apply": "apimachinery/ apimachinery.model apimachinery.scalars",
    "apimachinery.protobuf": (
        "apimachinery.lazy_names apimachinery.lenient apimachinery.model apimachinery.meta"
        " apimachinery.scalars apimachinery.serialization.document_size"
        " apimachinery.serialization.media_types"
    ),
    "apimachinery.openapi": (
        "apimachinery/ apimachinery.model apimachinery.meta"
        " apimachinery.scalars apimachinery.serialization.media_types apimachinery.structural"
    ),
    "apimachinery.structural": (
        "apimachinery/ apimachinery.cel apimachinery.model apimachinery.meta apimachinery.scalars"
        " apimachinery.serialization"
    ),
    "apimachinery.cel": "apimachinery/ apimachinery.scalars apimachinery.structural",
    "apimachinery/": (
        "apimachinery.conversion apimachinery.evolution apimachinery.lenient apimachinery.model"
        " apimachinery.meta apimachinery.protobuf apimachinery.scalars apimachinery.serialization"
    ),
    # apiserver: composition roots first, then the way of a request from top to bottom
    "apiserver.asgi": "apimachinery apiserver apis client",
    "apiserver.__main__": "apimachinery apiserver apis client",
    "apiserver.commands": "apimachinery apiserver apis client",
    "apiserver.controlplane": "apimachinery apiserver apis client",
    "apiserver.app": "apimachinery apiserver",
    "apiserver.gunicorn_conf": "apiserver.auth apiserver.config apiserver.process",
    "apiserver.process.start_check": (
        "apimachinery apiserver.auth apiserver.config apiserver.controlplane apiserver.evolution"
        " apiserver.group apiserver.group_check apiserver.install apiserver.storage"
    ),
    "apiserver.process": (
        "apimachinery apiserver.auth apiserver.config apiserver.connections apiserver.group"
        " apiserver.http"
    ),
    "apiserver.connections": "apimachinery apiserver.http",
    "apiserver.config": "apimachinery apiserver.process.address",
    "apiserver.config_fields": (
        "apimachinery.ip_addresses apiserver.evolution.accepted_loss apiserver.process.address"
    ),
    "apiserver.extensions": (
        "apimachinery apiserver/ apiserver.admission apiserver.managed_fields apiserver.registry"
        " apiserver.storage apiserver.views"
    ),
    "apiserver.pages": (
        "apimachinery apiserver/ apiserver.auth apiserver.fairness apiserver.handlers"
        " apiserver.http apiserver.views"
    ),
    "apiserver.handlers": (
        "apimachinery apiserver/ apiserver.admission apiserver.http apiserver.managed_fields"
        " apiserver.registry apiserver.storage apiserver.views"
    ),
    "apiserver.workload": "apimachinery.lenient.young_objects apimachinery.serialization",
    "apiserver.time_slices": "",
    "apiserver.http": "apimachinery apiserver.auth apiserver.workload",
    "apiserver.fairness": "apiserver.auth.user apiserver.http",
    "apiserver.auth": "apimachinery apiserver.http.request_info",
    "apiserver.install": (
        "apimachinery apiserver.admission apiserver.evolution apiserver.registry apiserver.storage"
    ),
    "apiserver.evolution": "apimachinery apiserver.storage",
    "apiserver.installed_group": (
        "apimachinery apiserver.admission apiserver.managed_fields"
        " apiserver.registry apiserver.storage"
    ),
    "apiserver.group_check": "apimachinery",
    "apiserver.resource_check": "apimachinery apiserver.registry.status apiserver.views.table",
    "apiserver.endpoint": (
        "apimachinery apiserver.admission.chain apiserver.workload apiserver.http"
        " apiserver.registry apiserver.views"
    ),
    "apiserver.group": (
        "apimachinery apiserver.admission apiserver.registry.allocation"
        " apiserver.registry.strategy apiserver.views.table"
    ),
    "apiserver.context": "apimachinery apiserver.auth.user apiserver.workload",
    "apiserver.registry": (
        "apimachinery apiserver.admission apiserver.context"
        " apiserver.group apiserver.managed_fields"
        " apiserver.storage apiserver.time_slices apiserver.views apiserver.workload"
    ),
    "apiserver.admission": (
        "apimachinery apiserver.auth.user apiserver.context apiserver.registry.allocation"
        " apiserver.server_parts apiserver.storage.clock"
    ),
    "apiserver.managed_fields": "apimachinery apiserver.context apiserver.group apiserver.views",
    "apiserver.views": "apimachinery apiserver.group apiserver.storage apiserver.workload",
    "apiserver.storage.cache": "apimachinery.watch apiserver.storage/ apiserver.time_slices",
    "apiserver.storage.sqlite": "apiserver.storage/",
    "apiserver.storage.etcd": "apiserver.storage/",
    "apiserver.storage/": "apimachinery apiserver.storage.cache apiserver.workload",
    "apiserver/": "apimachinery apiserver",
    # client: it knows neither the server nor the groups, except for tests
    "client.testing": "apimachinery apiserver apis client",
    "client.controller": "apimachinery client",
    "client.webhooks": "apimachinery client",
    "client.monitoring": "client.transport client.workqueue",
    "client.leaderelection": "apimachinery client/ client.runtime client.transport",
    "client.events": "apimachinery client/ client.runtime client.transport",
    "client.workqueue": "client.runtime",
    "client.informer": (
        "apimachinery client/ client.cache client.reflector client.runtime client.transport"
    ),
    "client.reflector": "apimachinery client.paging client.cache client.runtime",
    "client.cache": "apimachinery",
    "client.watches": "apimachinery client/ client.runtime client.transport",
    "client.auth": "apimachinery client.errors client.runtime client.transport",
    "client.transport": "apimachinery client.auth client.config client.errors client.runtime",
    "client.runtime": "apimachinery.lenient.young_objects",
    "client/": "apimachinery client.auth client.runtime client.transport client.watches",
    # apis: the server half and the controller half of a group, then its types
    "apis.*.controllers": "apimachinery apis client",
    "apis.controllers": "apimachinery apis client",
    "apis.core.api_service": "apimachinery apis client",
    "apis.core.bootstrap": "apimachinery apis client",
    "apis.flowcontrol.reconciliation": "apimachinery apis client",
    "apis.rbac.reconciliation": "apimachinery apis client",
    "apis.*.v1": "apimachinery apis",
    "apis.core.admission": (
        "apimachinery apis apiserver/ apiserver.admission.configuration"
        " apiserver.registry.identifiers apiserver.storage.clock"
    ),
    "apis.core.pod_security": (
        "apimachinery apis apiserver/ apiserver.admission apiserver.registry.store"
        " apiserver.storage.cache.entry apiserver.storage.cache.read_revision"
    ),
    "apis.core.quota": (
        "apimachinery apis apiserver/ apiserver.admission"
        " apiserver.registry.following apiserver.registry.store apiserver.storage.cache"
        " apiserver.storage.record_reading client.controller"
    ),
    "apis.*.admission": (
        "apimachinery apis apiserver/ apiserver.auth.user apiserver.storage.cache.entry"
    ),
    "apis.core.allocation": (
        "apimachinery apis apiserver/ apiserver.storage.cache.entry apiserver.storage.interface"
    ),
    "apis.kubernetes": "apis apiserver/",
    "apis.*.install": (
        "apimachinery apis apiserver/ apiserver.admission.plugins"
        " apiserver.admission.webhook_configuration apiserver.auth.token_review"
    ),
    "apis.*.install_full": "apimachinery apis apiserver/",
    "apis.admissionregistration.webhooks": (
        "apimachinery apis apiserver/ apiserver.admission.admission_metrics"
        " apiserver.registry.following apiserver.registry.identifiers"
    ),
    "apis.admissionregistration.matching": (
        "apimachinery apis apiserver/ apiserver.storage.cache.read_revision"
    ),
    "apis.admissionregistration.policies": (
        "apimachinery apis apiserver/ apiserver.admission.plugins apiserver.registry.following"
        " apiserver.storage.cache.entry apiserver.storage.cache.read_revision"
    ),
    "apis.*.strategy": "apimachinery apis apiserver/",
    "apis.*.printers": "apimachinery apis apiserver/ apiserver.views.table",
    "apis.*.reviews": "apimachinery apis apiserver/ apiserver.auth.token_review",
    "apis.resource.status_admission": (
        "apimachinery apis apiserver/ apiserver.auth.authorization apiserver.auth.user"
    ),
    "apis.core.pod_binding": "apimachinery apis apiserver/",
    "apis.core.pod_eviction": (
        "apimachinery apis apiserver/ apiserver.admission.chain apiserver.registry.deletion"
        " apiserver.storage.cache.entry"
    ),
    "apis.core.tokens": "apimachinery apis apiserver/ apiserver.auth.service_account_tokens",
    "apis.rbac.escalation": "apimachinery apis apiserver/ apiserver.auth.user",
    "apis.rbac.policy": "apimachinery apis apiserver/",
    "apis": "apimachinery apis",
}

# Third party -> the modules that may import it.
DOORS: dict[str, str] = {
    "pydantic": "apimachinery apis",
    "pydantic_core": "apimachinery apis",
    "orjson": "apimachinery apiserver client",
    "yaml": "apimachinery.serialization.yaml",
    "marshmallow": "apimachinery.meta.query_parameters apiserver.config apiserver.config_fields",
    "google": (
        "apimachinery.protobuf apimachinery.openapi.gnostic* apimachinery.cel.cel_values"
        " apimachinery.cel.declared_types apiserver.storage.etcd.http2_channel"
    ),
    "hypothesis": "apimachinery.testing",
    "sortedcontainers": "apiserver.storage",
    "sqlite3": "apiserver.storage.sqlite",
    "aetcd": "apiserver.storage.etcd",
    "grpc": "apiserver.storage.etcd",
    "hpack": "apiserver.storage.etcd.http2_headers",
    "falcon": "apiserver.app apiserver.handlers apiserver.http apiserver.pages",
    "gunicorn": "apiserver.process apiserver.connections",
    "cryptography": (
        "apis.certificates.pem apis.certificates.x509"
        " apiserver.auth.token_keys apiserver.auth.x509 apimachinery.certificates"
        " apiserver.connections.tls_extension"
    ),
    "jwt": "apiserver.auth.token_keys",
    "prometheus_client": (
        "apiserver.admission.admission_metrics apiserver.extensions.conversion_metrics"
        " apiserver.fairness apiserver.http.server_metrics"
        " client.monitoring"
    ),
    "aiohttp": "client.transport.aiohttp_transport",
    "aiohttp_socks": "client.transport.socks",
    "cel_expr_python": "apimachinery.cel",
    "re2": "apimachinery.structural.patterns",
}

# A module's name is unique in its package, so that it can be searched for. The roles of files
# within a group and within a storage backend are the exception: there the folder says the rest.
ROLES = ("apis/*/", "apiserver/storage/sqlite/", "apiserver/storage/etcd/")

# apimachinery is pure: values in, values out.
IMPURE = frozenset(("asyncio", "socket", "subprocess", "http", "urllib", "sqlite3"))


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def covers(pattern: str, name: str, path: Path | None = None) -> bool:
    """Whether a row of a table speaks of the module or imported name *name*."""
    if pattern.endswith("/"):
        folder = pattern[:-1].replace(".", "/")
        if path is not None:
            return path.parent == ROOT / folder
        return name.startswith(f"{pattern[:-1]}.") and module_of(name).parent == ROOT / folder
    return fnmatch(name, pattern) or fnmatch(name, f"{pattern}.*")


def module_of(name: str) -> Path:
    """The file that an imported name comes from."""
    parts = name.split(".")
    while parts:
        path = ROOT.joinpath(*parts)
        if path.with_suffix(".py").exists():
            return path.with_suffix(".py")
        if path.is_dir():
            return path / "__init__.py"
        parts.pop()
    raise AssertionError(f"{name} is nowhere")


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_imports_keep_to_their_layer(module: str, path: Path) -> None:
    row, allowed = next(row for row in LAYERS.items() if covers(row[0], module, path))
    mine = path.parent

    strays = [
        name
        for name in imports(path)
        if name.split(".")[0] in PACKAGES
        and not covers(row, name)
        and module_of(name).parent != mine
        and not any(covers(pattern, name) for pattern in allowed.split())
    ]
    assert not strays


def test_every_row_of_the_tables_is_needed() -> None:
    found = list(modules())

    idle = [row for row in LAYERS if not any(covers(row, name, path) for name, path in found)]
    assert not idle


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_third_parties_enter_by_their_door(module: str, path: Path) -> None:
    strays = [
        name
        for name in imports(path)
        if (doors := DOORS.get(name.split(".")[0]))
        and not any(covers(door, module, path) for door in doors.split())
    ]
    assert not strays


def test_module_names_are_unique_in_their_package() -> None:
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, path in modules():
        place = f"{path.parent.relative_to(ROOT)}/"
        if path.stem != "__init__" and not any(fnmatch(place, f"{role}*") for role in ROLES):
            places[module.split(".")[0], path.stem].append(place)

    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_public_classes_have_names_of_their_own() -> None:
    """Only the classes of one kind in several API versions share a name.

    Kubernetes has named the types of its API, so they may be called like a class of the server.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for module, path in modules():
        if fnmatch(module, "apis.*.v[0-9]*"):
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)

    repeated = {name: found for name, found in places.items() if len(found) > 1}
    assert not [found for found in repeated.values() if not all(m[:5] == "apis." for m in found)]


@pytest.mark.parametrize(
    ("module", "path"), [m for m in modules() if m[0].startswith("apimachinery")]
)
def test_apimachinery_is_pure(module: str, path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] in IMPURE]


def test_type_half_of_a_group_does_not_know_the_server() -> None:
    allowed = next(allowed for row, allowed in LAYERS.items() if covers(row, "apis.gadgets.types"))

    assert "apiserver" not in allowed
    assert "client" not in allowed


def test_every_package_is_typed() -> None:
    assert [p for p in PACKAGES if not (ROOT / p / "py.typed").exists()] == []


@pytest.mark.parametrize(("module", "path"), list(modules()))
def test_nothing_waits_in_a_way_that_may_forget_to_be_cancelled(module: str, path: Path) -> None:
    """In Python 3.11 `asyncio.wait_for` does, if what it waits for happens at that moment."""
    assert "asyncio.wait_for(" not in path.read_text(), "use `async with asyncio.timeout(…)`"
