"""What tracking field ownership costs a write, against decoding the same object from JSON."""

import timeit
from collections.abc import Callable
from copy import deepcopy
from time import process_time
from typing import Any

import orjson

from apimachinery.apply import FieldManager, FieldSet, field_set_of, no_other_version
from apimachinery.apply.managed_fields import decode, encode
from apimachinery.model.class_fields import shape_of
from tests.benchmarks.pods import VERSION, PodV1, pod_document

TIME = "2024-01-01T00:00:00Z"


def run() -> None:
    version, shape = str(VERSION), shape_of(PodV1)
    manager = FieldManager({version: shape}, no_other_version, version)
    pod = pod_document()
    live = manager.update(None, pod, manager="kubectl-create", time=TIME)
    live = manager.update(live, labelled(live, "a"), manager="controller", time=TIME)
    changed = labelled(live, "b")
    applied = manager.apply(None, pod, manager="applier", time=TIME)
    text, entries = orjson.dumps(pod), live["metadata"]["managedFields"]
    fields = max((entry["fieldsV1"] for entry in entries), key=lambda v1: len(orjson.dumps(v1)))
    found = FieldSet.from_fields_v1(fields)

    print(f"a document of {len(text)} bytes with {len(orjson.dumps(entries))} of managedFields;")
    print("microseconds, and how often the document is decoded from JSON in that time")
    unit = row("decode from JSON", lambda: orjson.loads(text), None)
    row("set of its fields", lambda: field_set_of(pod, shape), unit)
    row("set from FieldsV1", lambda: FieldSet.from_fields_v1(fields), unit)
    row("set to FieldsV1", found.to_fields_v1, unit)
    row("managedFields both ways", lambda: encode(decode(entries)), unit)
    row("create", lambda: manager.update(None, pod, manager="m", time=TIME), unit)
    row("update of one label", lambda: manager.update(live, changed, manager="m", time=TIME), unit)
    row("update of nothing", lambda: manager.update(live, live, manager="m", time=TIME), unit)
    row("apply", lambda: manager.apply(applied, pod, manager="applier", time=TIME), unit)


def labelled(document: dict[str, Any], value: str) -> dict[str, Any]:
    copy = deepcopy(document)
    copy["metadata"].setdefault("labels", {})["benchmark"] = value
    return copy


def row(name: str, action: Callable[[], object], unit: float | None) -> float:
    """Print and return the microseconds of one call: the best of five rounds of about 50 ms."""
    once = timeit.timeit(action, number=10) / 10
    number = max(10, int(0.05 / once))
    taken = min(timeit.repeat(action, timer=process_time, number=number, repeat=5)) / number * 1e6
    print(f"  {name:24} {taken:9.2f} {taken / (unit or taken):8.1f}")
    return taken
