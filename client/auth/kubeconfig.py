"""kubeconfig files: reading, merging, and choosing one context among what they say.

Several files act as one: of a name that stands in more than one, the first file's entry counts,
whole. A path inside a file is relative to that file. Everything wrong with the chosen context is
reported at once, in kubectl's words.
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
    """One cluster, user or context, and the folder its relative paths start in."""

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
        """A nested object, with the same name and folder."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ConfigError(f"{self.name}: {key}: must be an object")
        return KubeconfigEntry(self.name, value, self.folder)

    def path(self, key: str) -> str:
        """A path, absolute; empty when there is none."""
        text = self.text(key)
        return str(self.folder / text) if text else ""

    def data(self, key: str) -> bytes:
        """What is under `key-data`, or else in the file that `key` names."""
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
    """What one or several kubeconfig files say."""

    clusters: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    users: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    contexts: Mapping[str, KubeconfigEntry] = field(default_factory=dict)
    current_context: str = ""

    @property
    def empty(self) -> bool:
        return not (self.clusters or self.users or self.contexts or self.current_context)

    @classmethod
    def read(cls, path: str | Path) -> "Kubeconfig":
        """Read one file, which must exist."""
        place = Path(path).expanduser()
        try:
            data = place.read_bytes()
        except OSError as error:
            raise ConfigError(f'error loading config file "{place}": {error.strerror}') from None
        return cls.parse(data, folder=place.absolute().parent, source=str(place))

    @classmethod
    def read_all(cls, paths: Iterable[str | Path]) -> "Kubeconfig":
        """Read the files that exist and merge them; the first to say something counts."""
        existing = [path for path in map(Path, paths) if path.expanduser().exists()]
        return cls.merged(cls.read(path) for path in existing)

    @classmethod
    def merged(cls, parts: Iterable["Kubeconfig"]) -> "Kubeconfig":
        made = cls()
        for part in parts:
            made = cls(
                {**part.clusters, **made.clusters},
                {**part.users, **made.users},
                {**part.contexts, **made.contexts},
                made.current_context or part.current_context,
            )
        return made

    @classmethod
    def parse(cls, data: bytes, *, folder: Path, source: str = "kubeconfig") -> "Kubeconfig":
        """Read the text of one file; *folder* is where its relative paths start."""
        # Imported late: whoever has no such file, as in a cluster, need not load a YAML parser.
        from apimachinery.serialization.yaml import load_yaml

        try:
            document, _ = load_yaml(data)
            return cls._of({} if document is None else document, folder.absolute())
        except (DecodeError, ConfigError) as error:
            raise ConfigError(f'error loading config file "{source}": {error}') from None

    @classmethod
    def _of(cls, document: Any, folder: Path) -> "Kubeconfig":
        if not isinstance(document, dict):
            raise ConfigError("must be an object")
        kind, version = document.get("kind"), document.get("apiVersion")
        if kind not in (None, "", "Config") or version not in (None, "", "v1"):
            raise ConfigError(f"expected apiVersion v1 and kind Config, found {version} and {kind}")
        current = KubeconfigEntry("kubeconfig", document).text("current-context")
        return cls(
            _named(document, "clusters", "cluster", folder),
            _named(document, "users", "user", folder),
            _named(document, "contexts", "context", folder),
            current,
        )

    def choose(
        self, *, context: str = "", cluster: str = "", user: str = ""
    ) -> tuple[KubeconfigEntry, KubeconfigEntry, KubeconfigEntry]:
        """The context, cluster and user that are meant, by name or by the current context."""
        chosen = self._context(context)
        cluster_name = cluster or chosen.text("cluster")
        user_name = user or chosen.text("user")
        problems = []
        if not cluster_name:
            problems.append(f'cluster was not specified for context "{chosen.name}"')
        elif cluster_name not in self.clusters:
            problems.append(f'cluster "{cluster_name}" was not found for context "{chosen.name}"')
        if user_name and user_name not in self.users:
            problems.append(f'user "{user_name}" was not found for context "{chosen.name}"')
        if problems:
            raise invalid_configuration(problems)
        return chosen, self.clusters[cluster_name], self.users.get(user_name, KubeconfigEntry())

    def _context(self, name: str) -> KubeconfigEntry:
        wanted = name or self.current_context
        if not wanted:
            if self.empty:
                raise invalid_configuration(
                    ["no configuration has been provided, try setting KUBECONFIG to a file"]
                )
            known = ", ".join(sorted(self.contexts)) or "none"
            raise invalid_configuration([f"current-context is not set; contexts: {known}"])
        if wanted not in self.contexts:
            raise invalid_configuration([f"context was not found for specified context: {wanted}"])
        return self.contexts[wanted]


def invalid_configuration(problems: list[str]) -> ConfigError:
    text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    return ConfigError(f"invalid configuration: {text}")


def _named(
    document: Mapping[str, Any], key: str, part: str, folder: Path
) -> dict[str, KubeconfigEntry]:
    items = document.get(key)
    if items is None:
        return {}
    if not isinstance(items, list):
        raise ConfigError(f"{key}: must be a list")
    made: dict[str, KubeconfigEntry] = {}
    for position, item in enumerate(items):
        where = f"{key}[{position}]"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str):
            raise ConfigError(f"{where}.name: must be a string")
        name, values = item["name"], item.get(part)
        if values is not None and not isinstance(values, dict):
            raise ConfigError(f"{where}.{part}: must be an object")
        if name in made:
            raise ConfigError(f'{key}: duplicate name "{name}" in list')
        made[name] = KubeconfigEntry(name, values or {}, folder)
    return made
