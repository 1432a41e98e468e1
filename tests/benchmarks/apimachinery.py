"""What the machinery costs, against pydantic's plain validate, dump and copy of the same object."""

import json
import timeit
from collections.abc import Callable
from time import process_time
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from apimachinery.apply.typed_values import field_set_of
from apimachinery.codec import Codec, FieldValidation
from apimachinery.model.class_fields import TypeInfo, fields_of, shape_of
from apimachinery.scheme import Scheme
from apimachinery.selectors import label_selector as labels
from apimachinery.storage_codec import StorageCodec
from tests.benchmarks.pods import VERSION, Pod, PodV1, add_to_scheme, pod_document


def run() -> None:
    scheme = Scheme("benchmark")
    add_to_scheme(scheme)
    codec, storage = Codec(scheme), StorageCodec(scheme)
    kind = VERSION.with_kind("Pod")
    data = json.dumps(pod_document(), separators=(",", ":")).encode()
    pod = PodV1.model_validate_json(data)
    internal = scheme.convert(pod, Pod)
    stored = storage.encode(internal)
    document = json.loads(data)
    selector = labels.parse("app=web,tier in (front,back)")
    shape = shape_of(PodV1)

    plain = plain_twin(PodV1, {})
    twin = plain.model_validate_json(data)
    validate = measure(lambda: plain.model_validate_json(data))
    dump = measure(twin.model_dump_json)
    copy = measure(lambda: twin.model_copy(deep=True))
    decode = measure(lambda: codec.decode(data, expected=kind))
    print(f"a document of {len(data)} bytes; microseconds, and the ratio to pydantic's own")
    row("pydantic validate", validate, 1, "-")
    row("pydantic dump", dump, 1, "-")
    row("pydantic deep copy", copy, 1, "-")
    row("decode", decode, decode / validate, "validate")
    strict = measure(lambda: codec.decode(data, expected=kind, validation=FieldValidation.STRICT))
    row("decode, strict", strict, strict / validate, "validate")
    encode = measure(lambda: codec.encode(pod))
    row("encode", encode, encode / dump, "dump")
    convert = measure(lambda: scheme.convert(pod, Pod))
    row("convert, equal shape", convert, convert / decode, "decode")
    row("store: encode", *against(lambda: storage.encode(internal), dump), "dump")
    row("store: decode", *against(lambda: storage.decode(stored), validate), "validate")
    fast = measure(pod.deep_copy)
    row("deep copy", fast, copy / fast, "times faster than pydantic's")
    match = measure(lambda: selector.matches(pod.metadata.labels))
    row("selector match", match, match / validate, "validate")
    row(
        "field set of a document",
        *against(lambda: field_set_of(document, shape), validate),
        "validate",
    )


def plain_twin(cls: type[BaseModel], known: dict[type, type[BaseModel]]) -> type[BaseModel]:
    """The same fields and types in an ordinary pydantic model."""
    if cls not in known:
        fields: dict[str, Any] = {
            field.wire: (plain_type(field.type, known), ... if field.required else field.default)
            for field in fields_of(cls)
        }
        config = ConfigDict(protected_namespaces=())
        known[cls] = create_model(f"Plain{cls.__name__}", __config__=config, **fields)
    return known[cls]


def plain_type(info: TypeInfo, known: dict[type, type[BaseModel]]) -> Any:
    made: Any = info.python
    if info.category == "model":
        made = plain_twin(info.python, known)
    elif info.item is not None:
        item = plain_type(info.item, known)
        made = list[item] if info.category == "list" else dict[str, item]  # type: ignore[valid-type]
    return made | None if info.optional or info.category == "model" else made


def against(action: Callable[[], object], other: float) -> tuple[float, float]:
    taken = measure(action)
    return taken, taken / other


def measure(action: Callable[[], object]) -> float:
    """Microseconds of this process for one call: the best of five rounds of about 50 ms."""
    once = timeit.timeit(action, number=10) / 10
    number = max(10, int(0.05 / once))
    return min(timeit.repeat(action, timer=process_time, number=number, repeat=5)) / number * 1e6


def row(name: str, microseconds: float, ratio: float, of: str) -> None:
    print(f"  {name:26} {microseconds:9.2f}   {ratio:6.2f}  {of}")
