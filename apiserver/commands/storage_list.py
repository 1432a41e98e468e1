"""`apiserver storage list`: every resource that a store contains, whoever serves it."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from apimachinery.document_head import StoredForm, stored_form
from apimachinery.schema import GroupResource
from apiserver.commands.open_store import Progress, open_store
from apiserver.commands.text_table import aligned
from apiserver.evolution.catalogue import read_catalogue
from apiserver.storage.interface import Backend, StorageError
from apiserver.storage.keys import ROOT, InvalidStorageKey, parse
from apiserver.storage.stored_resources import PAGE, count_below, records_below

LIST: Final = """\
List every resource that has objects in a store, whether or not a server serves it:

  apiserver storage list sqlite:///.apiserver/store.sqlite
  apiserver storage list etcd://10.0.0.1:2379 -o json

STORED AS names the versions in which the objects are stored, the fingerprints of their types'
shapes, where they have one, since when these are in the store's catalogue, and how many objects
there are of each. `?` stands for a value that is not an object. Nothing is changed, and servers may
run meanwhile.
"""
NAMES: Final = 3
"""The number of namespaces that are named in the table."""

_TITLES: Final = ("RESOURCE", "OBJECTS", "NAMESPACES", "STORED AS")


@dataclass(slots=True)
class Contents:
    """The objects of one resource."""

    namespaces: Counter[str] = field(default_factory=Counter)
    """How many there are in each; the name is empty for cluster-scoped objects."""
    forms: Counter[StoredForm] = field(default_factory=Counter)
    since: dict[tuple[str, str], str] = field(default_factory=dict)
    """apiVersion and shape -> the time at which it was catalogued."""

    def since_when(self, form: StoredForm) -> str:
        return self.since.get((form.api_version, form.shape), "")

    @property
    def count(self) -> int:
        return self.namespaces.total()

    @property
    def named(self) -> list[str]:
        """The namespaces that have objects, sorted."""
        return sorted(name for name in self.namespaces if name)


def add_parser(actions: Any) -> None:
    """Add this action to the parser of `apiserver storage`."""
    parser = actions.add_parser(
        "list",
        help="list the resources that have objects in a store",
        description=LIST,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="URL", help="the URL of the store")
    parser.add_argument(
        "-o", "--output", choices=("table", "json"), default="table", help="default: table"
    )
    parser.set_defaults(run=lambda args: asyncio.run(_list(args)))


async def read_contents(backend: Backend, progress: Progress) -> dict[GroupResource, Contents]:
    """Read all objects of a store, sorted by group and resource. Raises StorageError if empty."""
    total = await count_below(backend, ROOT)
    # A mistyped path would open a new, empty store.
    if not total:
        raise StorageError("the store has no objects; check its URL")
    found: dict[GroupResource, Contents] = {}
    catalogue = await read_catalogue(backend)
    done = 0
    async for record in records_below(backend, ROOT):
        done += 1
        if done % PAGE == 0 and done < total:
            progress.show(done, total)
        try:
            key = parse(record.key)
        except InvalidStorageKey:
            continue
        resource = GroupResource(key.group, key.resource)
        if resource not in found:
            entries = catalogue.of(resource)
            since = {(entry.api_version, entry.fingerprint): entry.since for entry in entries}
            found[resource] = Contents(since=since)
        contents = found[resource]
        contents.namespaces[key.namespace] += 1
        contents.forms[stored_form(record.value)] += 1
    progress.show(total, total)
    return dict(sorted(found.items(), key=lambda item: (item[0].group, item[0].resource)))


def as_table(contents: dict[GroupResource, Contents]) -> str:
    """Return a line for each resource, and one with the total."""
    rows = [
        (str(resource), str(each.count), _short(each.named), _forms(each))
        for resource, each in contents.items()
    ]
    total = sum(each.count for each in contents.values())
    return aligned([_TITLES, *rows, ("TOTAL", str(total), "", "")])


def as_json(contents: dict[GroupResource, Contents]) -> str:
    """Return the same as one JSON object."""
    resources = [
        {
            "resource": str(resource),
            "objects": each.count,
            "namespaces": {name: each.namespaces[name] for name in each.named},
            "forms": [
                {
                    "kind": form.kind,
                    "apiVersion": form.api_version,
                    "shape": form.shape,
                    "since": each.since_when(form),
                    "objects": count,
                }
                for form, count in _sorted(each.forms)
            ],
        }
        for resource, each in contents.items()
    ]
    document = {
        "objects": sum(each.count for each in contents.values()),
        "resources": resources,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


async def _list(args: argparse.Namespace) -> int:
    async with open_store(args.source) as backend:
        contents = await read_contents(backend, Progress())
    print(as_json(contents) if args.output == "json" else as_table(contents))
    return 0


def _short(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES])
    more = len(names) - NAMES
    return f"{shown}, {more} more" if more > 0 else shown or "-"


def _forms(contents: Contents) -> str:
    return ", ".join(
        f"{_form(form, contents.since_when(form))} ({count})"
        for form, count in _sorted(contents.forms)
    )


def _form(form: StoredForm, since: str) -> str:
    version = form.api_version.rpartition("/")[2] or "?"
    day = f"since {since.partition('T')[0]}" if since else ""
    return " ".join(part for part in (version, form.shape, day) if part)


def _sorted(forms: Counter[StoredForm]) -> list[tuple[StoredForm, int]]:
    return sorted(
        forms.items(), key=lambda item: (item[0].api_version, item[0].kind, item[0].shape)
    )
