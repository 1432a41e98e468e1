"""Parameters and variables of admission policies."""

from typing import Final

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field

ALLOW: Final = "Allow"
DENY_MISSING: Final = "Deny"


class ParamKind(Model, map_type="atomic"):
    """Kind of the objects that parameterize a policy."""

    api_version: str = field(
        "", proto=1, doc="Group and version of the kind, such as `example.com/v1`. Required."
    )
    kind: str = field("", proto=2, doc="Kind of the parameter objects. Required.")


class ParamRef(Model, map_type="atomic"):
    """Reference of a binding to parameter objects, by name or by labels."""

    name: str = field("", proto=1, doc="Name of the parameter object; excludes `selector`.")
    namespace: str = field(
        "",
        proto=2,
        doc=(
            "Namespace of the parameter objects. Empty for a namespaced kind: the namespace of"
            " the request. Not allowed for a cluster-scoped kind."
        ),
    )
    selector: LabelSelector | None = field(
        None,
        proto=3,
        doc="Labels of the parameter objects; the policy is evaluated for each. Excludes `name`.",
    )
    parameter_not_found_action: str | None = field(
        None, proto=4, doc="What happens if no parameter object exists: Allow or Deny. Required."
    )


class Variable(Model, map_type="atomic"):
    """A CEL expression with a name, which later expressions of the policy can use."""

    name: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Name of the variable, a CEL identifier; expressions use it as `variables.<name>`."
            " Required."
        ),
    )
    expression: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc=(
            "CEL expression for the value, evaluated when it is first used; earlier variables"
            " are available. Required."
        ),
    )
