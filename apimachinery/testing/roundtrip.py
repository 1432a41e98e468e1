"""Round trips: assert that no conversion of a group loses a field.

For every served kind of a scheme, with objects that hypothesis generates and shrinks:

- version -> internal -> version returns an equal object;
- internal -> version -> internal returns an equal object;
- version -> bytes -> version, and internal -> stored bytes -> internal, do as well;
- version -> internal -> any other version -> internal -> version does as well.

Fields that a conversion declares as dropped are left unset; all others must survive.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from apimachinery.codec import Codec
from apimachinery.meta.types import Object, TypeMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model, deep_copy
from apimachinery.model.semantic_equality import differences
from apimachinery.schema import INTERNAL, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.storage_codec import StorageCodec
from apimachinery.testing.strategies import Strategies, objects


def assert_roundtrip(
    scheme: Scheme | Callable[[Scheme], None],
    *,
    kinds: Iterable[GroupVersionKind] = (),
    strategies: Strategies | None = None,
    examples: int = 50,
    check: Callable[[Any], None] | None = None,
) -> None:
    """Raise AssertionError with the path of a lost field and the smallest object that loses it.

    *scheme* is a scheme or a group's `add_to_scheme`. *strategies* override the generated values of
    a class or field, such as an internal timedelta that a version writes in whole seconds. *check*
    asserts what else must be true of a versioned object: generating one takes most of the time.
    """
    if not isinstance(scheme, Scheme):
        add_to_scheme, scheme = scheme, Scheme("round trip")
        add_to_scheme(scheme)
    scheme.check()
    selected = tuple(kinds)
    for kind, cls in scheme.all_kinds().items():
        if _is_served(kind, cls) and (not selected or kind in selected):
            _Trip(scheme, kind, cls, strategies or {}, examples).run(check)


def _is_served(kind: GroupVersionKind, cls: type[TypeMeta]) -> bool:
    return kind.version != INTERNAL and issubclass(cls, Object)


class _Trip:
    """The round trips of one kind in one version."""

    def __init__(
        self,
        scheme: Scheme,
        kind: GroupVersionKind,
        cls: type[Any],
        strategies: Strategies,
        examples: int,
    ) -> None:
        self.scheme = scheme
        self.kind = kind
        self.cls = cls
        self.hub: type[Any] = scheme.hub_of(cls)
        self.strategies = strategies
        self.codec = Codec(scheme)
        self.storage = StorageCodec(scheme)
        self.settings = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
        )

    def run(self, check: Callable[[Any], None] | None) -> None:
        versioned = [self._check_versioned, *([check] if check else [])]
        if self.hub is self.cls:
            self._run_examples(self.cls, [*versioned, self._check_internal])
        else:
            self._run_examples(self.cls, versioned)
            self._run_examples(self.hub, [self._check_internal])

    def _run_examples(self, cls: type[Any], checks: Iterable[Callable[[Any], None]]) -> None:
        # Hypothesis prints the name of this function in front of the smallest example.
        def example(obj: Any) -> None:
            for check in checks:
                check(obj)

        self.settings(given(objects(cls, self.strategies))(example))()

    def _check_versioned(self, obj: Any) -> None:
        self.scheme.default(obj)
        _unset_dropped(obj, self.scheme.dropped(self.cls))
        internal = self._convert(deep_copy(obj), self.hub)
        back = self._convert(internal, self.cls)
        self._assert_equal(obj, back, f"{self.kind.version} -> internal -> {self.kind.version}")
        self._check_bytes(obj)
        for other in self._other_versions():
            self._check_other_version(obj, other)

    def _check_internal(self, obj: Any) -> None:
        _unset_dropped(obj, self.scheme.dropped(self.cls))
        versioned = self._convert(deep_copy(obj), self.cls)
        back = self._convert(versioned, self.hub)
        self._assert_equal(obj, back, f"internal -> {self.kind.version} -> internal")
        stored = self.storage.decode(self.storage.encode(obj))
        self._assert_equal(obj, stored, "internal -> stored bytes -> internal")

    def _check_bytes(self, obj: Any) -> None:
        version = self.kind.group_version
        data = self.codec.encode(self.codec.in_version(obj, version), version)
        back: Any = self.codec.decode(data, expected=self.kind).object
        back.__dict__["kind"] = back.__dict__["api_version"] = ""
        self._assert_equal(obj, back, f"{self.kind.version} -> bytes -> {self.kind.version}")

    def _check_other_version(self, obj: Any, other: type[Any]) -> None:
        hub = self._convert(deep_copy(obj), self.hub)
        _unset_dropped(hub, self.scheme.dropped(other))
        start = self._convert(deep_copy(hub), self.cls)
        converted = self._convert(deep_copy(start), other)
        back = self._convert(converted, self.cls)
        name = self.scheme.kind_of(other).version
        self._assert_equal(start, back, f"{self.kind.version} -> {name} -> {self.kind.version}")

    def _convert(self, obj: Any, target: type[Any]) -> Any:
        try:
            return self.scheme.convert(obj, target)
        except Exception as error:
            raise AssertionError(
                f"{self.kind.kind}: a conversion must not fail, but {type(obj).__qualname__} ->"
                f" {target.__qualname__} did: {error}\nsmallest object that shows it: {obj!r}"
            ) from error

    def _other_versions(self) -> Iterator[type[Any]]:
        for kind, cls in self.scheme.all_kinds().items():
            same = kind.group == self.kind.group and kind.kind == self.kind.kind
            if same and kind.version not in (INTERNAL, self.kind.version) and cls is not self.cls:
                yield cls

    def _assert_equal(self, before: Model, after: Model, route: str) -> None:
        difference = next(differences(before, after), None)
        if difference is not None:
            path, old, new = difference
            raise AssertionError(
                f"{self.kind.kind}: {route} loses {path}: {old!r} became {new!r}\n"
                f"smallest object that shows it: {before!r}"
            )


def _unset_dropped(obj: Any, paths: Iterable[str]) -> None:
    for path in paths:
        *parents, name = path.split(".")
        _unset(obj, parents, name)


def _unset(value: Any, parents: list[str], name: str) -> None:
    if isinstance(value, list):
        for item in value:
            _unset(item, parents, name)
    elif isinstance(value, dict):
        for item in value.values():
            _unset(item, parents, name)
    elif isinstance(value, Model) and parents:
        if parents[0] in value.__dict__:
            _unset(value.__dict__[parents[0]], parents[1:], name)
    elif isinstance(value, Model) and name in value.__dict__:
        field = next(entry for entry in fields_of(type(value)) if entry.name == name)
        value.__dict__[name] = None if field.required else deep_copy(field.default)
