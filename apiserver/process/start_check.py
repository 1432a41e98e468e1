"""Start check: what a configuration would serve, and every reason why it must not be served.

`apiserver serve` makes these calls in a process of their own (`checked_process`), at the start and
before every reload: as long as there are problems no worker is started or replaced. `apiserver
check` calls the same phases in its own process.

The groups are checked first, and then, if they are right, the objects in the store: whether today's
types would lose or break any. A store that cannot be reached is a reason not to reload; at a first
start the workers report it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from apimachinery.certificates import CertificateError
from apimachinery.scheme import Scheme
from apiserver.auth.static_tokens import InvalidTokenFile, read_tokens
from apiserver.auth.token_keys import InvalidSigningKey
from apiserver.config import ServerConfig
from apiserver.controlplane.server_admission import admission_problems
from apiserver.controlplane.standard_server import standard_groups, with_standard
from apiserver.evolution.accepted_loss import AcceptedLoss
from apiserver.evolution.start import ShapeStart, UnsafeStart
from apiserver.group import Group
from apiserver.group_check import describe_error, register_groups
from apiserver.install import Groups
from apiserver.process.data_dir import DataDirError
from apiserver.process.data_folder import prepare, token_keys
from apiserver.process.loading import GroupError, load_groups
from apiserver.process.start_report import StartReport
from apiserver.storage.backends import open_backend
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.sqlite.backend import parse_url


@dataclass(frozen=True, slots=True)
class Candidate:
    """The groups that a server would serve, registered in one scheme."""

    own: tuple[Group, ...]
    """The groups of the configuration."""
    groups: tuple[Group, ...]
    """All groups, in the order of their installation."""
    scheme: Scheme
    problems: tuple[str, ...]


def check_start(config: ServerConfig) -> StartReport:
    """Check everything that can be checked before a server starts; never raises."""
    try:
        candidate = load_candidate(config.groups)
        problems = candidate.problems + admission_problems(config, candidate.groups)
    except (Exception, SystemExit) as error:  # a reload must survive whatever new code does
        return StartReport(problems=(f"checking the groups failed: {describe_error(error)}",))
    report = StartReport(served=describe(candidate), problems=problems)
    return report if report.problems else _with_store(report, config, candidate)


def prepare_files(config: ServerConfig) -> StartReport:
    """Create what is missing in the data folder, and read every file that a server needs."""
    try:
        if config.token_auth_file is not None:
            read_tokens(config.token_auth_file)
        prepare(config, now=datetime.now(UTC))
        token_keys(config)
    except (DataDirError, CertificateError, InvalidSigningKey, InvalidTokenFile) as error:
        return StartReport(problems=tuple(str(error).splitlines()))
    return StartReport()


def _with_store(report: StartReport, config: ServerConfig, candidate: Candidate) -> StartReport:
    try:
        asyncio.run(check_store(config, candidate))
    except UnsafeStart as error:
        return replace(report, problems=error.problems)
    except StorageError as error:
        return replace(report, store_problem=str(error))
    except (Exception, SystemExit) as error:
        problem = f"checking the stored objects failed: {describe_error(error)}"
        return replace(report, problems=(problem,))
    return report


async def check_store(config: ServerConfig, candidate: Candidate) -> None:
    """Compare the types with the stored objects. Raises UnsafeStart, StorageError.

    What was found is catalogued, so that no worker reads the objects again.
    """
    if not may_have_objects(config.storage_url):
        return
    async with groups_on_store(config, candidate) as (groups, backend):
        await backend.check_integrity()
        start = ShapeStart(backend, AcceptedLoss.parse(config.accept_field_loss))
        await groups.defer_shapes(start)
        for judgement in await groups.check_shapes(start):
            await start.register(judgement)


@asynccontextmanager
async def groups_on_store(
    config: ServerConfig, candidate: Candidate
) -> AsyncIterator[tuple[Groups, Backend]]:
    """Yield the groups as a server would install them on its store, which is open meanwhile.

    Nothing is cached or served. Raises StorageError.
    """
    backend = await open_backend(config.storage_url)
    try:
        cache = WatchCache(backend)
        groups = Groups(backend, cache, scheme=candidate.scheme, registered=candidate.groups)
        for group in candidate.groups:
            groups.install(group)
        yield groups, backend
    finally:
        await backend.close()


def may_have_objects(url: str) -> bool:
    """Return False for a store in memory, and for a file that a server has yet to create.

    Raises InvalidURL.
    """
    if url.partition("://")[0] != "sqlite":
        return True
    path = parse_url(url).path
    return path is not None and path.exists()


def load_candidate(references: Sequence[str]) -> Candidate:
    """Import the groups of a configuration and check them, as many as possible."""
    own: dict[str, Group] = {}
    problems: list[str] = []
    for reference in references:
        try:
            loaded = load_groups(reference)
        except GroupError as error:
            problems.append(" ".join(str(error).split()))
            continue
        for group in loaded:
            if group.name in own:
                problems.append(f"group {group.name!r} is given twice")
            own[group.name] = group
    groups = with_standard(list(own.values()), standard_groups())
    scheme = Scheme()
    problems += register_groups(groups, scheme)
    return Candidate(tuple(own.values()), tuple(groups), scheme, tuple(problems))


def describe(candidate: Candidate) -> tuple[str, ...]:
    """Return the versions of the core group and of the groups in the configuration."""
    core = [group for group in candidate.groups if not group.name and group not in candidate.own]
    shown = (*candidate.own, *core)
    versions = (
        f"{group.name}/{version}" if group.name else f"{version} (core)"
        for group in shown
        for version in group.versions
    )
    return (*versions, f"{len(candidate.groups) - len(shown)} more groups")
