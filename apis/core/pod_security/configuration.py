"""PodSecurityConfiguration: what holds for namespaces without labels, and who is exempt."""

from dataclasses import dataclass, field

from apis.core.pod_security.levels import Policy


@dataclass(frozen=True, slots=True)
class PodSecurityConfiguration:
    """How a server checks pods; as it is here, labels alone decide."""

    defaults: Policy = field(default_factory=Policy)
    """The modes of a namespace whose labels do not mention them."""
    users: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()
    """Whose pods are not checked."""
