"""PodSecurityConfiguration: what holds for namespaces without labels, and who is exempt."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from apimachinery.fieldpath import FieldError, Path, duplicate, invalid
from apimachinery.meta.types import TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.names import is_dns1123_label, is_dns1123_subdomain
from apis.core.pod_security.levels import LevelVersion, Policy, parse_level, parse_version
from apiserver.admission.configuration import ConfigurationKind

_GROUP: Final = "pod-security.admission.config.k8s.io"


class PodSecurityDefaults(Model):
    """The modes of a namespace whose labels do not mention them."""

    enforce: str = field("privileged")
    enforce_version: str = field("latest", wire="enforce-version")
    audit: str = field("privileged")
    audit_version: str = field("latest", wire="audit-version")
    warn: str = field("privileged")
    warn_version: str = field("latest", wire="warn-version")


class PodSecurityExemptions(Model):
    """Whose pods are not checked."""

    usernames: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    runtime_classes: list[str] = field(default_factory=list)


class PodSecurityConfiguration(TypeMeta):
    """How a server checks pods; as it is here, labels alone decide."""

    defaults: PodSecurityDefaults = field(default_factory=PodSecurityDefaults)
    exemptions: PodSecurityExemptions = field(default_factory=PodSecurityExemptions)

    def default_policy(self) -> Policy:
        modes = self.defaults
        return Policy(
            _demand(modes.enforce, modes.enforce_version),
            _demand(modes.audit, modes.audit_version),
            _demand(modes.warn, modes.warn_version),
        )


def _demand(level: str, version: str) -> LevelVersion:
    return LevelVersion(parse_level(level or "privileged"), parse_version(version or "latest"))


def _validate(configuration: PodSecurityConfiguration) -> Iterator[FieldError]:
    defaults, path = configuration.defaults, Path("defaults")
    for mode in ("enforce", "warn", "audit"):
        level, version = getattr(defaults, mode), getattr(defaults, f"{mode}_version")
        yield from _parsed(path.child(mode), level, parse_level)
        yield from _parsed(path.child(f"{mode}-version"), version, parse_version)
    exemptions, path = configuration.exemptions, Path("exemptions")
    yield from _names(path.child("namespaces"), exemptions.namespaces, is_dns1123_label)
    yield from _names(
        path.child("runtimeClasses"), exemptions.runtime_classes, is_dns1123_subdomain
    )
    yield from _names(path.child("usernames"), exemptions.usernames, _user_problems)


def _parsed(path: Path, text: str, parse: Callable[[str], object]) -> Iterator[FieldError]:
    try:
        if text:
            parse(text)
    except ValueError as error:
        yield invalid(path, text, str(error))


def _names(
    path: Path, names: Sequence[str], problems_of: Callable[[str], Iterable[str]]
) -> Iterator[FieldError]:
    known: set[str] = set()
    for position, name in enumerate(names):
        if problems := list(problems_of(name)):
            yield invalid(path.index(position), name, ", ".join(problems))
        elif name in known:
            yield duplicate(path.index(position), name)
        known.add(name)


def _user_problems(name: str) -> Iterator[str]:
    if not name:
        yield "username must not be empty"


CONFIGURATION: Final = ConfigurationKind(
    PodSecurityConfiguration,
    "PodSecurityConfiguration",
    tuple(f"{_GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1")),
    _validate,
)
