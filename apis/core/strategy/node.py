"""Strategy of Nodes."""

from collections.abc import Iterable, Iterator

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.ip_addresses import cidr_warnings
from apis.core.v1.node import Node
from apis.core.validation.node import validate_node, validate_node_update
from apiserver import Strategy


class NodeStrategy(Strategy[Node]):
    """Names are DNS subdomains; a new node may have a status, as the kubelet registers it."""

    qualified_finalizers = True
    accepts_status_on_create = True
    status_updates_metadata = True

    def prepare_for_create(self, obj: Node) -> None:
        obj.spec.config_source = None
        obj.status.config = None
        obj.spec.pod_preemption_policy = None

    def prepare_for_update(self, new: Node, old: Node) -> None:
        if old.spec.config_source is None:
            new.spec.config_source = None
        if old.spec.pod_preemption_policy is None:
            new.spec.pod_preemption_policy = None

    def prepare_for_status_update(self, new: Node, old: Node) -> None:
        if old.status.config is None:
            new.status.config = None

    def validate(self, obj: Node) -> FieldErrors:
        yield from validate_node(obj)

    def validate_update(self, new: Node, old: Node) -> FieldErrors:
        yield from validate_node(new)
        yield from validate_node_update(new, old)

    def validate_status_update(self, new: Node, old: Node) -> FieldErrors:
        yield from validate_node_update(new, old)

    def warnings(self, obj: Node, old: Node | None = None) -> Iterable[str]:
        return list(_warnings(obj))

    def desired_state(self, obj: Node) -> object:
        return None


def _warnings(node: Node) -> Iterator[str]:
    if node.spec.config_source is not None:
        yield "spec.configSource: the feature is removed"
    if node.spec.external_id:
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for position, cidr in enumerate(node.spec.pod_cidrs):
        yield from cidr_warnings(cidr, Path("spec", "podCIDRs").index(position))
