"""Topology selectors: the topologies that volumes may be provisioned in."""

from apimachinery.model.model import Model, field


class TopologySelectorLabelRequirement(Model):
    """A label of nodes, and its allowed values."""

    key: str = field("", proto=1, omit_empty=False, doc="Label of the nodes. Required.")
    values: list[str] = field(
        default_factory=list,
        proto=2,
        omit_empty=False,
        list_type="atomic",
        doc="Allowed values of the label. Required.",
    )


class TopologySelectorTerm(Model, map_type="atomic"):
    """A topology: nodes that meet every requirement."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Requirements by the labels of nodes; each label occurs once.",
    )
