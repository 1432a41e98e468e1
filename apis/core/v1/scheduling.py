"""Scheduling: the rules by which a node is chosen for a pod."""

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32


class NodeSelectorRequirement(Model):
    """A requirement that a label or field of a node must meet."""

    key: str = field("", proto=1, omit_empty=False, doc="Key of the label, or path of the field.")
    operator: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"),
        publish_enum=True,
        doc="Relation between the key and the values.",
    )
    values: list[str] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Values to compare with: some for In and NotIn, none for Exists and DoesNotExist, "
            "one number for Gt and Lt."
        ),
    )


class NodeSelectorTerm(Model, map_type="atomic"):
    """Requirements that a node must meet all of; a term without any selects no node."""

    match_expressions: list[NodeSelectorRequirement] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Requirements on the labels of a node.",
    )
    match_fields: list[NodeSelectorRequirement] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Requirements on the fields of a node; only `metadata.name` is supported.",
    )


class NodeSelector(Model, map_type="atomic"):
    """A selector of nodes: the terms are alternatives."""

    node_selector_terms: list[NodeSelectorTerm] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Terms, of which a node must match at least one.",
    )


class PreferredSchedulingTerm(Model):
    """Nodes that are preferred, and how much."""

    weight: Int32 = field(
        0, proto=1, omit_empty=False, doc="Weight of the preference, from 1 to 100."
    )
    preference: NodeSelectorTerm = field(
        default_factory=NodeSelectorTerm,
        proto=2,
        required=True,
        doc="Term that a preferred node matches.",
    )


class NodeAffinity(Model):
    """Rules for the nodes of a pod."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = field(
        None,
        proto=1,
        doc="Nodes that the pod can be scheduled to; a running pod stays where it is.",
    )
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc=(
            "Nodes that the pod is rather scheduled to; the weights of matching terms are added up."
        ),
    )


class PodAffinityTerm(Model):
    """A set of pods, and the topology in which a pod is placed with or without them."""

    label_selector: LabelSelector | None = field(
        None, proto=1, doc="Labels of the pods; without a selector no pod is meant."
    )
    namespaces: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc=(
            "Namespaces of the pods, besides those of `namespaceSelector`; with neither, that "
            "of the pod itself."
        ),
    )
    topology_key: str = field(
        "",
        proto=3,
        omit_empty=False,
        doc=(
            "Label of nodes whose value names the place: two nodes with equal values are the "
            "same place."
        ),
    )
    namespace_selector: LabelSelector | None = field(
        None,
        proto=4,
        doc="Labels of the namespaces of the pods; the empty selector means all namespaces.",
    )
    match_label_keys: list[str] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="Keys of labels whose values the other pods must have in common with this one.",
    )
    mismatch_label_keys: list[str] = field(
        default_factory=list,
        proto=6,
        list_type="atomic",
        doc="Keys of labels whose values the other pods must not have in common with this one.",
    )


class WeightedPodAffinityTerm(Model):
    """A preferred affinity, and how much it counts."""

    weight: Int32 = field(
        0, proto=1, omit_empty=False, doc="Weight of the preference, from 1 to 100."
    )
    pod_affinity_term: PodAffinityTerm = field(
        default_factory=PodAffinityTerm,
        proto=2,
        required=True,
        doc="Pods to be placed with or without.",
    )


class PodAffinity(Model):
    """Pods to be placed in the same topology with."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc=(
            "Terms that must all be met when the pod is scheduled; a running pod stays where it is."
        ),
    )
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Terms that are rather met; the weights of those that are, are added up per node.",
    )


class PodAntiAffinity(Model):
    """Pods not to be placed in the same topology with."""

    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc=(
            "Terms that must all be met when the pod is scheduled; a running pod stays where it is."
        ),
    )
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Terms that are rather met; the weights of those that are, are added up per node.",
    )


class Affinity(Model):
    """Scheduling rules of a pod by nodes and by other pods."""

    node_affinity: NodeAffinity | None = field(None, proto=1, doc="Rules for the nodes of the pod.")
    pod_affinity: PodAffinity | None = field(None, proto=2, doc="Pods to be placed with.")
    pod_anti_affinity: PodAntiAffinity | None = field(
        None, proto=3, doc="Pods to be placed away from."
    )


class Toleration(Model):
    """A taint of nodes that a pod tolerates."""

    key: str = field(
        "", proto=1, doc="Key of the taint; empty, with operator Exists, for every taint."
    )
    operator: str = field(
        "",
        proto=2,
        known=("Equal", "Exists", "Gt", "Lt"),
        publish_enum=True,
        doc="`Equal`, the default, compares the value; `Exists` tolerates any value.",
    )
    value: str = field("", proto=3, doc="Value of the taint; empty for operator Exists.")
    effect: str = field(
        "",
        proto=4,
        known=("NoExecute", "NoSchedule", "PreferNoSchedule"),
        publish_enum=True,
        doc="Effect of the taint; empty for all effects.",
    )
    toleration_seconds: int | None = field(
        None,
        proto=5,
        doc="Seconds that a taint with effect NoExecute is tolerated for; for ever if unset.",
    )


class TopologySpreadConstraint(Model):
    """How evenly the pods that match a selector are spread over zones, nodes or the like."""

    max_skew: Int32 = field(
        0,
        proto=1,
        omit_empty=False,
        doc="Largest allowed difference between the numbers of pods in two domains; at least 1.",
    )
    topology_key: str = field(
        "", proto=2, omit_empty=False, doc="Label of nodes whose values are the domains."
    )
    when_unsatisfiable: str = field(
        "",
        proto=3,
        omit_empty=False,
        known=("DoNotSchedule", "ScheduleAnyway"),
        publish_enum=True,
        doc="Whether a pod waits, or is scheduled all the same, when the skew would be exceeded.",
    )
    label_selector: LabelSelector | None = field(
        None, proto=4, doc="Labels of the pods that are counted."
    )
    min_domains: Int32 | None = field(
        None,
        proto=5,
        doc=(
            "Number of domains below which the smallest count is taken to be 0; only with "
            "DoNotSchedule."
        ),
    )
    node_affinity_policy: str | None = field(
        None,
        proto=6,
        known=("Honor", "Ignore"),
        publish_enum=True,
        doc=(
            "Whether nodes count that the pod's affinity and node selector rule out; defaults "
            "to Honor."
        ),
    )
    node_taints_policy: str | None = field(
        None,
        proto=7,
        known=("Honor", "Ignore"),
        publish_enum=True,
        doc=(
            "Whether nodes with taints that the pod does not tolerate are left out; defaults to "
            "Ignore."
        ),
    )
    match_label_keys: list[str] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc="Keys of labels whose values a pod must have in common with this one to be counted.",
    )


class PodSchedulingGate(Model):
    """A gate that keeps a pod from being scheduled until it is removed."""

    name: str = field("", proto=1, omit_empty=False, doc="Name of the gate, unique in the pod.")


class PodReadinessGate(Model):
    """A condition that a pod needs to be ready."""

    condition_type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Type of a condition in the status of the pod, which something else sets.",
    )


class PodSchedulingGroup(Model):
    """The group that a pod is scheduled together with."""

    pod_group_name: str | None = field(
        None, proto=1, doc="Name of the PodGroup in the namespace of the pod."
    )
