"""DefinitionHead: a CustomResourceDefinition without its schemas.

Controllers need the names, versions and conditions of definitions. Schemas make up nearly all of a
definition, and decoding thousands of properties takes long, so controllers do without them. A head
can update the status of a definition, which leaves the rest alone, but not the definition itself.
"""

from apimachinery.model.model import Model, field
from apis.apiextensions.v1 import (
    CustomResourceDefinition,
    CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
)


class _UnreadSchema(Model):
    """A schema, none of whose fields are decoded."""


class _VersionHead(CustomResourceDefinitionVersion):
    schema_: _UnreadSchema | None = field(None, proto=4)  # type: ignore[assignment]


class _SpecHead(CustomResourceDefinitionSpec):
    versions: list[_VersionHead] = field(  # type: ignore[assignment]
        default_factory=list, proto=7, list_type="atomic", omit_empty=False
    )


class DefinitionHead(CustomResourceDefinition, kind="CustomResourceDefinition"):
    """A definition as controllers read it."""

    spec: _SpecHead = field(default_factory=_SpecHead, proto=2)
