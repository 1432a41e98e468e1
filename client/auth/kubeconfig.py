"""kubeconfig files: read them, merge them, and select a context with its cluster and user.

If several files define an entry of the same name, the first one wins as a whole; entries are not
merged. A relative path in a file is relative to that file. All problems of the selected context
are reported at once, with the messages of kubectl.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apimachinery.model.decoding import DecodeError
from client.errors import ConfigError


@dataclass(frozen=True, slots=True)
class KubeconfigEntry:
    """One cluster, user or context, with the folder against which its paths are resolved.

    The accessors raise ConfigError if the value has the wrong type.
    """

    name: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    folder: Path = Path()

    def text(self, key: str) -> str:
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise ConfigError(f"{self.name}: {key}: must be a string")
        return value

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise ConfigError(f"{self.name}: {key}: must be true or false")

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{self.name}: {key}: must be a list of strings")
        return tuple(value)

    def section(self, key: str) -> "KubeconfigEntry | None":
        """Return a nested object with the same name and folder, or None if it is absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ConfigError(f"{self.name}: {key}: must be an object")
        return KubeconfigEntry(self.name, value, self.folder)

    def path(self, key: str) -> str:
        """Return an absolute path, or an empty string if it is absent."""
        text = self.text(key)
        return str(self.folder / text) if text else ""

    def data(self, key: str) -> bytes:
        """Return the decoded `<key>-data`, otherwise the content of the file at `<key>`."""
        inline = self.text(f"{key}-data")
        if inline:
            try:
                return base64.b64decode(inline, validate=True)
            except (binascii.Error, ValueError):
                raise ConfigError(f"{self.name}: {key}-data: not base64") from None
        path = self.path(key)
        if not path:
            return b""
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise ConfigError(
                f"unable to read {key} {path} for {self.name} due to {error.strerror}"
            ) from None


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The content of one or several kubeconfig files."""

    clusters: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    users: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    contexts: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    current_context: str = ""

    @property
    def empty(self) -> bool:
        return not (self.clusters or self.users or self.contexts or self.current_context)

    @classmethod
    def read(cls, path: str | Path) -> "Kubeconfig":
        """Read one file; raises ConfigError if it is missing or malformed."""
        file = Path(path).expanduser()
        try:
            data = file.read_bytes()
        except OSError as error:
            raise ConfigError(f'error loading config file "{file}": {error.strerror}') from None
        return cls.parse(data, folder=file.absolute().parent, source=str(file))

    @classmethod
    def read_all(cls, paths: Iterable[str | Path]) -> "Kubeconfig":
        """Read and merge the files that exist; earlier files take precedence."""
        existing = [path for path in map(Path, paths) if path.expanduser().exists()]
        return cls.merge(cls.read(path) for path in existing)

    @classmethod
    def merge(cls, kubeconfigs: Iterable["Kubeconfig"]) -> "Kubeconfig":
        merged = cls()
        for later in kubeconfigs:
            merged = cls(
                {**later.clusters, **merged.clusters},
                {**later.users, **merged.users},
                {**later.contexts, **merged.contexts},
                merged.current_context or later.current_context,
            )
        return merged

    @classmethod
    def parse(cls, data: bytes, *, folder: Path, source: str = "kubeconfig") -> "Kubeconfig":
        """Parse the content of one file, whose relative paths are resolved against *folder*.

        Raises ConfigError, with *source* in its message, if the content is malformed.
        """
        # Imported late: a client in a pod has no kubeconfig and needs no YAML parser.
        from apimachinery.serialization.yaml import load_yaml

        try:
            document, _ = load_yaml(data)
            return cls._from_document({} if document is None else document, folder.absolute())
        except (DecodeError, ConfigError) as error:
            raise ConfigError(f'error loading config file "{source}": {error}') from None

    @classmethod
    def _from_document(cls, document: Any, folder: Path) -> "Kubeconfig":
        if not isinstance(document, dict):
            raise ConfigError("must be an object")
        kind, version = document.get("kind"), document.get("apiVersion")
        if kind not in (None, "", "Config") or version not in (None, "", "v1"):
            raise ConfigError(f"expected apiVersion v1 and kind Config, found {version} and {kind}")
        current = KubeconfigEntry("kubeconfig", document).text("current-context")
        return cls(
            _parse_entries(document, "clusters", "cluster", folder),
            _parse_entries(document, "users", "user", folder),
            _parse_entries(document, "contexts", "context", folder),
            current,
        )

    def select(
        self, *, context: str = "", cluster: str = "", user: str = ""
    ) -> tuple[KubeconfigEntry, KubeconfigEntry, KubeconfigEntry]:
        """Return the context, its cluster and its user; *cluster* and *user* override the context.

        Without *context* the current context is selected. Raises ConfigError if one is missing.
        """
        selected = self._select_context(context)
        cluster_name = cluster or selected.text("cluster")
        user_name = user or selected.text("user")
        problems = []
        if not cluster_name:
            problems.append(f'cluster was not specified for context "{selected.name}"')
        elif cluster_name not in self.clusters:
            problems.append(f'cluster "{cluster_name}" was not found for context "{selected.name}"')
        if user_name and user_name not in self.users:
            problems.append(f'user "{user_name}" was not found for context "{selected.name}"')
        if problems:
            raise invalid_configuration(problems)
        return selected, self.clusters[cluster_name], self.users.get(user_name, KubeconfigEntry())

    def _select_context(self, name: str) -> KubeconfigEntry:
        name = name or self.current_context
        if not name:
            if self.empty:
                raise invalid_configuration(
                    ["no configuration has been provided, try setting KUBECONFIG to a file"]
                )
            names = ", ".join(sorted(self.contexts)) or "none"
            raise invalid_configuration([f"current-context is not set; contexts: {names}"])
        if name not in self.contexts:
            raise invalid_configuration([f"context was not found for specified context: {name}"])
        return self.contexts[name]


def invalid_configuration(problems: list[str]) -> ConfigError:
    """Return the error that reports *problems* as kubectl does."""
    text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return ConfigError(f"invalid configuration: {text}")


def _parse_entries(
    document: Mapping[str, Any], key: str, entry_key: str, folder: Path
) -> dict[str, KubeconfigEntry]:
    """Parse a list of `{name: ..., <entry_key>: {...}}` into entries by name."""
    items = document.get(key)
    if items is None:
        return {}
    if not isinstance(items, list):
        raise ConfigError(f"{key}: must be a list")
    entries: dict[str, KubeconfigEntry] = {}
    for index, item in enumerate(items):
        path = f"{key}[{index}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"{path}.name: must be a string")
        name, values = item["name"], item.get(entry_key)
        if values is not None and not isinstance(values, dict):
            raise ConfigError(f"{path}.{entry_key}: must be an object")
        if name in entries:
            raise ConfigError(f'{key}: duplicate name "{name}" in list')
        entries[name] = KubeconfigEntry(name, values or {}, folder)
    return entries
