"""Start check: what a configuration would serve, and every reason why it must not be served.

`apiserver serve` calls `check_apart` in its master, at the start and before every reload: as long
as there are problems no worker is started or replaced. The groups are imported in a process of
their own, because workers are forked from the master and modules that it has imported could not be
reloaded. `apiserver check` calls the same phases in its own process.

A further phase takes a `Candidate` and the configuration, and adds its problems in `check_start`.
"""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from apimachinery.scheme import Scheme
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import standard_groups, with_standard
from apiserver.group import Group
from apiserver.group_check import describe_error, register_groups
from apiserver.process.loading import GroupError, load_group


class StartRefused(Exception):
    """A start or a reload that would fail; the message has one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class StartReport:
    """The result of a check; it is sent from one process to another."""

    served: tuple[str, ...] = ()
    """The served group versions, for people."""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """The groups that a server would serve, registered in one scheme."""

    own: tuple[Group, ...]
    """The groups of the configuration."""
    groups: tuple[Group, ...]
    """All groups, in the order of their installation."""
    scheme: Scheme
    problems: tuple[str, ...]


def check_apart(config: ServerConfig) -> StartReport:
    """Check a configuration in a separate process. Raises StartRefused if there are problems."""
    # The standard groups are never reloaded: with their classes built here, neither the separate
    # process nor any worker spends time on that.
    register_groups(standard_groups(), Scheme())
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        try:
            report = pool.submit(check_start, config).result()
        except BrokenProcessPool as error:
            importing = ", ".join(config.groups) or "the groups"
            raise StartRefused([f"importing {importing} terminated the process"]) from error
    if report.problems:
        raise StartRefused(report.problems)
    return report


def check_start(config: ServerConfig) -> StartReport:
    """Check everything that can be checked before a server starts; never raises."""
    try:
        candidate = load_candidate(config.groups)
    except (Exception, SystemExit) as error:  # a reload must survive whatever new code does
        return StartReport(problems=(f"checking the groups failed: {describe_error(error)}",))
    return StartReport(served=describe(candidate), problems=candidate.problems)


def load_candidate(references: Sequence[str]) -> Candidate:
    """Import the groups of a configuration and check them, as many as possible."""
    own: dict[str, Group] = {}
    problems: list[str] = []
    for reference in references:
        try:
            group = load_group(reference)
        except GroupError as error:
            problems.append(" ".join(str(error).split()))
            continue
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
