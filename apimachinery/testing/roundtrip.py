"""assert_roundtrip: no version of a group loses anything on its way through the hub.

For every served kind of a scheme, with objects that hypothesis makes and shrinks:

- version -> internal -> version gives the same object;
- internal -> version -> internal gives the same object;
- version -> bytes -> version, and internal -> stored bytes -> internal, do;
- version -> internal -> any other version -> internal -> version does.

Fields that a conversion declares as dropped are left unset; everything else must come back.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from apimachinery.codec import Codec, StorageCodec
from apimachinery.meta.types import Object, TypeMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model, deep_copy
from apimachinery.model.semantic_equality import differences
from apimachinery.schema import INTERNAL, GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.testing.strategies import Strategies, objects


def assert_roundtrip(
    scheme: Scheme | Callable[[Scheme], None],
    *,
    kinds: Iterable[GroupVersionKind] = (),
    strategies: Strategies | None = None,
    examples: int = 50,
) -> None:
    """Fail with the smallest object, and the path of the field, that a conversion loses.

    *scheme* is a scheme or a group's `add_to_scheme`. *strategies* say what to generate where any
    value of the type would not do (an internal timedelta that a version writes in whole seconds).
    """
    if not isinstance(scheme, Scheme):
        filled = Scheme("round trip")
        scheme(filled)
        scheme = filled
    scheme.check()
    chosen = tuple(kinds)
    for kind, cls in scheme.all_kinds().items():
        if _is_served(kind, cls) and (not chosen or kind in chosen):
            _Trip(scheme, kind, cls, strategies or {}, examples).run()


def _is_served(kind: GroupVersionKind, cls: type[TypeMeta]) -> bool:
    return kind.version != INTERNAL and issubclass(cls, Object)


class _Trip:
    """The checks of one kind in one version."""

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

    def run(self) -> None:
        self._check(self.cls, self._from_version)
        self._check(self.hub, self._from_internal)

    def _check(self, cls: type[Any], check: Callable[[Any], None]) -> None:
        # The name is what hypothesis prints in front of the smallest example.
        def example(obj: Any) -> None:
            check(obj)

        self.settings(given(objects(cls, self.strategies))(example))()

    def _from_version(self, obj: Any) -> None:
        self.scheme.default(obj)
        _unset_dropped(obj, self.scheme.dropped(self.cls))
        there = self._convert(deep_copy(obj), self.hub)
        back = self._convert(there, self.cls)
        self._same(obj, back, f"{self.kind.version} -> internal -> {self.kind.version}")
        self._through_bytes(obj)
        for other in self._other_versions():
            self._through(obj, other)

    def _from_internal(self, obj: Any) -> None:
        _unset_dropped(obj, self.scheme.dropped(self.cls))
        there = self._convert(deep_copy(obj), self.cls)
        back = self._convert(there, self.hub)
        self._same(obj, back, f"internal -> {self.kind.version} -> internal")
        stored = self.storage.decode(self.storage.encode(obj))
        self._same(obj, stored, "internal -> stored bytes -> internal")

    def _through_bytes(self, obj: Any) -> None:
        version = self.kind.group_version
        data = self.codec.encode(self.codec.in_version(obj, version), version)
        back: Any = self.codec.decode(data, expected=self.kind).object
        back.__dict__["kind"] = back.__dict__["api_version"] = ""
        self._same(obj, back, f"{self.kind.version} -> bytes -> {self.kind.version}")

    def _through(self, obj: Any, other: type[Any]) -> None:
        hub = self._convert(deep_copy(obj), self.hub)
        _unset_dropped(hub, self.scheme.dropped(other))
        start = self._convert(deep_copy(hub), self.cls)
        far = self._convert(deep_copy(start), other)
        back = self._convert(far, self.cls)
        name = self.scheme.kind_of(other).version
        self._same(start, back, f"{self.kind.version} -> {name} -> {self.kind.version}")

    def _convert(self, obj: Any, target: type[Any]) -> Any:
        try:
            return self.scheme.convert(obj, target)
        except Exception as error:
            raise AssertionError(
                f"{self.kind.kind}: a conversion must not fail, and {type(obj).__qualname__} ->"
                f" {target.__qualname__} did: {error}\nsmallest object that shows it: {obj!r}"
            ) from error

    def _other_versions(self) -> Iterator[type[Any]]:
        for kind, cls in self.scheme.all_kinds().items():
            same = kind.group == self.kind.group and kind.kind == self.kind.kind
            if same and kind.version not in (INTERNAL, self.kind.version) and cls is not self.cls:
                yield cls

    def _same(self, before: Model, after: Model, way: str) -> None:
        found = next(differences(before, after), None)
        if found is not None:
            path, was, now = found
            raise AssertionError(
                f"{self.kind.kind}: {way} loses {path}: {was!r} became {now!r}\n"
                f"smallest object that shows it: {before!r}"
            )


def _unset_dropped(obj: Any, paths: Iterable[str]) -> None:
    for path in paths:
        *way, name = path.split(".")
        _unset(obj, way, name)


def _unset(value: Any, way: list[str], name: str) -> None:
    if isinstance(value, list):
        for item in value:
            _unset(item, way, name)
    elif isinstance(value, dict):
        for item in value.values():
            _unset(item, way, name)
    elif isinstance(value, Model) and way:
        if way[0] in value.__dict__:
            _unset(value.__dict__[way[0]], way[1:], name)
    elif isinstance(value, Model) and name in value.__dict__:
        field = next(found for found in fields_of(type(value)) if found.name == name)
        value.__dict__[name] = None if field.required else deep_copy(field.default)
