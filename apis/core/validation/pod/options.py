"""Options of pod validation: what an update may keep because the stored object has it already.

Rules have become stricter over the years. A pod, or the template of a workload, that was stored
before must stay updatable, so each stricter rule has an option here, set from the stored object.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PodValidationOptions:
    """Exceptions from the rules; the defaults are the rules for new objects."""

    in_pod: bool = False
    """The spec is that of a pod, not of a template."""
    allow_privileged: bool = True
    """Containers may be privileged, by the policy of the server."""
    allow_invalid_deletion_cost: bool = False
    allow_invalid_affinity_values: bool = False
    """Selectors of pod affinity may have values that no label can have."""
    allow_invalid_node_affinity_values: bool = False
    """Selectors of required node affinity may have values that no label can have."""
    allow_indivisible_huge_pages: bool = False
    """Quantities of huge pages need not be multiples of the page size."""
    allow_invalid_spread_selectors: bool = False
    allow_selected_match_label_keys: bool = False
    """Spread constraints follow the older rule about `matchLabelKeys`."""
    allow_nonlocal_token_paths: bool = False
    allow_host_sysctls: bool = False
    """Kernel parameters may belong to namespaces that the pod shares with the host."""
    allow_restart_of_init_containers: bool = False
    """Init containers may be restarted for a resize, although they end."""
    allow_devices_in_user_namespaces: bool = False
    allow_empty_image_references: bool = False
    """Image volumes may have no reference, as those of templates once could."""
    allow_system_administration: bool = False
    """Containers may have CAP_SYS_ADMIN and no privilege escalation."""
