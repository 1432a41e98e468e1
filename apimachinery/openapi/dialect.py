"""Dialects: the differences between OpenAPI v2 and v3, so that all other code serves both."""

from dataclasses import dataclass
from typing import Any, Final

Schema = dict[str, Any]
"""A schema object, as JSON."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One version of OpenAPI, as Kubernetes uses it."""

    references: str
    """The prefix of definition names in references."""
    wraps_references: bool
    """Whether a reference with a description goes into `allOf`: keys beside `$ref` are ignored."""
    has_one_of: bool
    """Whether schemas can have alternative types and null."""
    has_defaults: bool
    """Whether defaults are published; not in v2, where old clients misread them."""
    has_deprecation: bool
    """Whether a schema can be marked as deprecated; the description mentions it in both."""
    has_validations: bool
    """Whether rules in CEL are published; not in v2, as Kubernetes does for custom resources."""
    has_open_objects: bool
    """Whether an object that allows undeclared fields can declare some.

    Not in v2: old clients reject undeclared fields wherever any are declared.
    """

    def reference(self, name: str) -> Schema:
        return {"$ref": f"{self.references}{name}"}

    def extend(self, schema: Schema, extra: Schema) -> Schema:
        """Return *schema* with the keys of *extra* added, wrapping a reference if necessary."""
        if extra and self.wraps_references and "$ref" in schema:
            return {"allOf": [schema], **extra}
        return {**schema, **extra}


V2: Final = Dialect(
    references="#/definitions/",
    wraps_references=False,
    has_one_of=False,
    has_defaults=False,
    has_deprecation=False,
    has_validations=False,
    has_open_objects=False,
)
V3: Final = Dialect(
    references="#/components/schemas/",
    wraps_references=True,
    has_one_of=True,
    has_defaults=True,
    has_deprecation=True,
    has_validations=True,
    has_open_objects=True,
)
