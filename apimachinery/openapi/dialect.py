"""What OpenAPI v2 and v3 write differently, so that everything else is written once."""

from dataclasses import dataclass
from typing import Any, Final

Schema = dict[str, Any]
"""A schema object, as JSON."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version of OpenAPI, as Kubernetes uses it."""

    references: str
    """What stands before the name of a definition in a reference."""
    wraps_references: bool
    """Beside `$ref` nothing else counts, so a reference with a description goes into `allOf`."""
    has_one_of: bool
    """There are alternatives of types, and null."""
    has_defaults: bool
    """Kubernetes leaves defaults out of v2, where old clients misread them."""
    has_deprecation: bool
    """A schema can be marked as deprecated; the description says so in both."""
    has_open_objects: bool
    """Old clients refuse undeclared fields wherever v2 declares any."""

    def reference(self, name: str) -> Schema:
        return {"$ref": f"{self.references}{name}"}

    def beside(self, schema: Schema, extra: Schema) -> Schema:
        """*schema* with the keys of *extra*, also where it is a reference."""
        if extra and self.wraps_references and "$ref" in schema:
            return {"allOf": [schema], **extra}
        return {**schema, **extra}


V2: Final = Dialect(
    references="#/definitions/",
    wraps_references=False,
    has_one_of=False,
    has_defaults=False,
    has_deprecation=False,
    has_open_objects=False,
)
V3: Final = Dialect(
    references="#/components/schemas/",
    wraps_references=True,
    has_one_of=True,
    has_defaults=True,
    has_deprecation=True,
    has_open_objects=True,
)
