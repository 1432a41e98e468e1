"""AdmissionConfiguration: the file that configures admission plugins, and the parts of it.

The file has one document per plugin, in itself or in a file of its own. Only a plugin knows what
its document contains (`ConfigurationKind`). Errors name the file, the field and the rule, and all
of them are reported together: a server does not start, or reload, with a file that has any.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import orjson

from apimachinery import fieldpath
from apimachinery.fieldpath import FieldError
from apimachinery.meta.types import TypeMeta
from apimachinery.model import model
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model
from apimachinery.scalars.wire_types import RawExtension
from apimachinery.serialization.yaml import load_strict

GROUP: Final = "apiserver.config.k8s.io"

_UNKNOWN_FIELD: Final = "unknown field"

DocumentT = TypeVar("DocumentT", bound=TypeMeta)


class InvalidAdmissionConfiguration(ValueError):
    """A configuration of admission plugins cannot be used; one line per error."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class PluginEntry(Model):
    """The document of one plugin, or the path of the file that contains it."""

    name: str = model.field("")
    path: str = model.field("")
    configuration: RawExtension | None = None


class AdmissionConfigurationFile(TypeMeta):
    """The content of the file."""

    plugins: list[PluginEntry] = model.field(default_factory=list)


def _no_errors(_: Any) -> Iterable[FieldError]:
    return ()


@dataclass(frozen=True, slots=True)
class ConfigurationKind(Generic[DocumentT]):
    """What the document of a plugin contains; a plugin declares it."""

    cls: type[DocumentT]
    kind: str
    versions: tuple[str, ...]
    """The apiVersions that the document may have, all of the same form."""
    validate: Callable[[DocumentT], Iterable[FieldError]] = _no_errors


_FILE: Final = ConfigurationKind(
    AdmissionConfigurationFile,
    "AdmissionConfiguration",
    (f"{GROUP}/v1", f"{GROUP}/v1alpha1"),
    lambda file: _validate_plugins(file.plugins),
)


@dataclass(frozen=True, slots=True)
class PluginDocument:
    """The document of one plugin, not decoded yet."""

    file: Path
    content: Any
    prefix: str = ""
    """The path of the document within the file."""

    def decode(self, kind: ConfigurationKind[DocumentT]) -> DocumentT:
        """Return the document as *kind* declares it. Raises InvalidAdmissionConfiguration."""
        try:
            return _decode(self.content, kind)
        except InvalidAdmissionConfiguration as error:
            start = f"{self.file}: {self.prefix}"
            raise InvalidAdmissionConfiguration(
                *(f"{start}{problem}" for problem in error.problems)
            ) from None


@dataclass(frozen=True, slots=True)
class AdmissionConfiguration:
    """The documents by the name of their plugin."""

    file: Path | None = None
    documents: Mapping[str, PluginDocument] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path | None) -> "AdmissionConfiguration":
        """Read a file and those it refers to. Raises InvalidAdmissionConfiguration."""
        if file is None:
            return cls()
        plugins = PluginDocument(file, _load(file)).decode(_FILE).plugins
        documents: dict[str, PluginDocument] = {}
        problems: list[str] = []
        for position, entry in enumerate(plugins):
            try:
                if (document := _document(file, position, entry)) is not None:
                    documents[entry.name] = document
            except InvalidAdmissionConfiguration as error:
                problems += error.problems
        if problems:
            raise InvalidAdmissionConfiguration(*problems)
        return cls(file, documents)

    def of(self, plugin: str, kind: ConfigurationKind[DocumentT]) -> DocumentT | None:
        """Return the configuration of a plugin, None without one.

        Raises InvalidAdmissionConfiguration.
        """
        document = self.documents.get(plugin)
        return document.decode(kind) if document is not None else None

    def problems(self, kinds: Mapping[str, ConfigurationKind[Any] | None]) -> list[str]:
        """Return every reason why plugins cannot run with this configuration.

        *kinds* are those of all known plugins by name, None for a plugin without configuration.
        """
        problems = []
        for name, document in self.documents.items():
            kind = kinds.get(name)
            if kind is None:
                rule = "takes no configuration" if name in kinds else "is not known to this server"
                problems.append(f"{self.file}: plugins: the admission plugin {name} {rule}")
                continue
            try:
                document.decode(kind)
            except InvalidAdmissionConfiguration as error:
                problems += error.problems
        return problems


def _validate_plugins(plugins: Iterable[PluginEntry]) -> Iterator[FieldError]:
    names = set()
    for position, entry in enumerate(plugins):
        path = fieldpath.Path("plugins").index(position).child("name")
        if not entry.name:
            yield fieldpath.required(path)
        elif entry.name in names:
            yield fieldpath.duplicate(path, entry.name)
        names.add(entry.name)


def _document(file: Path, position: int, entry: PluginEntry) -> PluginDocument | None:
    if entry.configuration is not None:
        return PluginDocument(file, entry.configuration, f"plugins[{position}].configuration.")
    if not entry.path:
        return None
    try:
        own = file.absolute().parent / entry.path
        return PluginDocument(own, _load(own))
    except InvalidAdmissionConfiguration as error:
        raise InvalidAdmissionConfiguration(f"{file}: plugins[{position}].path: {error}") from None


def _load(file: Path) -> Any:
    try:
        document, duplicates = load_strict(file.read_bytes())
    except OSError as error:
        raise InvalidAdmissionConfiguration(f"{file}: cannot be read: {error.strerror}") from None
    except DecodeError as error:
        raise InvalidAdmissionConfiguration(f"{file}: {error}") from None
    if duplicates:
        raise InvalidAdmissionConfiguration(
            *(f"{file}: yaml: {message}" for message in duplicates.values())
        )
    return document


def _decode(content: Any, kind: ConfigurationKind[DocumentT]) -> DocumentT:
    """Decode strictly and validate; the problems are without the name of the file."""
    if not isinstance(content, dict):
        raise InvalidAdmissionConfiguration("must be an object with apiVersion and kind")
    if wrong := list(_check_kind(content, kind)):
        raise InvalidAdmissionConfiguration(*map(str, wrong))
    try:
        decoded = decode_json(kind.cls, orjson.dumps(content))
    except DecodeError as error:
        raise InvalidAdmissionConfiguration(*map(str, error.fields or (error,))) from None
    refused = [f"{path}: {_UNKNOWN_FIELD}" for path in decoded.unknown]
    refused += map(str, kind.validate(decoded.object))
    if refused:
        raise InvalidAdmissionConfiguration(*refused)
    return decoded.object


def _check_kind(content: Mapping[str, Any], kind: ConfigurationKind[Any]) -> Iterator[FieldError]:
    for name, supported in (("apiVersion", kind.versions), ("kind", (kind.kind,))):
        given = content.get(name)
        if not given:
            yield fieldpath.required(fieldpath.Path(name))
        elif given not in supported:
            yield fieldpath.not_supported(fieldpath.Path(name), given, supported)
