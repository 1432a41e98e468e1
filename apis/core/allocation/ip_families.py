"""IP families of a service: what a client may leave out, and what the cluster can provide.

A service is single-stack or dual-stack by its policy. The policy, the families and the addresses
are completed from each other, and checked against the families that the cluster has ranges for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apis.core.v1.service import (
    CLUSTER_IP,
    EXTERNAL_NAME,
    HEADLESS,
    IPV4,
    IPV6,
    LOAD_BALANCER,
    NODE_PORT,
    PREFER_DUAL_STACK,
    REQUIRE_DUAL_STACK,
    SINGLE_STACK,
    Service,
    ServiceSpec,
)
from apis.core.validation.service_addresses import (
    family_of,
    validate_address_update,
    validate_cluster_ips,
)

_SPEC: Final = Path("spec")
_POLICY: Final = _SPEC.child("ipFamilyPolicy")


@dataclass(frozen=True, slots=True)
class ClusterFamilies:
    """The IP families that a cluster has ranges for, the default one first."""

    families: Sequence[str]

    def complete(self, new: Service, old: Service | None) -> FieldErrors:
        """Fill in the policy and the families of *new*; yield errors and stop at the first step.

        The caller refuses the service if there is an error.
        """
        if new.spec.type == EXTERNAL_NAME or keeps_prefer_dual_stack(new, old):
            return
        _set_policy(new, old)
        errors = [*validate_cluster_ips(new, _SPEC)]
        if old is not None:
            errors += validate_address_update(new, old)
        if not errors:
            if old is not None:
                errors += _reduce(new.spec, old.spec)
            errors += _validate_policy(new.spec)
            errors += self._infer_families(new.spec)
        yield from errors
        if errors:
            return
        if new.spec.cluster_ip == HEADLESS and not new.spec.selector:
            self._complete_open_headless(new.spec)
            return
        errors += self._validate_families(new.spec)
        yield from errors
        if not errors:
            self._add_families(new.spec)

    def _infer_families(self, spec: ServiceSpec) -> FieldErrors:
        for position, address in enumerate(spec.cluster_ips):
            if address == HEADLESS:
                return
            if position < len(spec.ip_families):
                continue
            family = family_of(address)
            if family in self.families:
                spec.ip_families = [*spec.ip_families, family]
            else:
                path = _SPEC.child("clusterIPs").index(position)
                rule = f"{family} is not configured on this cluster"
                yield invalid(path, spec.cluster_ips, rule)

    def _complete_open_headless(self, spec: ServiceSpec) -> None:
        """Complete a headless service without selector: its endpoints may have any family."""
        spec.ip_families = spec.ip_families or [self.families[0]]
        if len(spec.ip_families) < 2 and spec.ip_family_policy != SINGLE_STACK:
            spec.ip_families = [*spec.ip_families, _other(spec.ip_families[0])]

    def _validate_families(self, spec: ServiceSpec) -> FieldErrors:
        if spec.ip_family_policy == REQUIRE_DUAL_STACK and len(self.families) < 2:
            rule = "this cluster is not configured for dual-stack services"
            yield invalid(_POLICY, spec.ip_family_policy, rule)
        for position, family in enumerate(spec.ip_families):
            if family not in self.families:
                path = _SPEC.child("ipFamilies").index(position)
                yield invalid(path, family, "not configured on this cluster")

    def _add_families(self, spec: ServiceSpec) -> None:
        families = spec.ip_families or [self.families[0]]
        wants_two = spec.ip_family_policy != SINGLE_STACK and len(self.families) == 2
        if wants_two and len(families) == 1:
            families = [*families, _other(families[0])]
        spec.ip_families = families


def keeps_prefer_dual_stack(new: Service, old: Service | None) -> bool:
    """Return whether a PreferDualStack service keeps its addresses.

    It is not upgraded or downgraded because the cluster has become dual-stack or single-stack.
    """
    if old is None or old.spec.type != new.spec.type:
        return False
    return (
        new.spec.type in (CLUSTER_IP, NODE_PORT, LOAD_BALANCER)
        and new.spec.ip_family_policy == PREFER_DUAL_STACK
        and old.spec.ip_family_policy in (None, PREFER_DUAL_STACK)
        and new.spec.cluster_ips == old.spec.cluster_ips
        and new.spec.ip_families == old.spec.ip_families
    )


def _set_policy(new: Service, old: Service | None) -> None:
    spec = new.spec
    if spec.ip_family_policy is not None:
        return
    if old is not None and old.spec.ip_family_policy is not None:
        spec.ip_family_policy = old.spec.ip_family_policy
    elif spec.cluster_ip == HEADLESS and not spec.selector:
        spec.ip_family_policy = REQUIRE_DUAL_STACK
    else:
        spec.ip_family_policy = SINGLE_STACK


def _reduce(new: ServiceSpec, old: ServiceSpec) -> FieldErrors:
    """Drop the secondary address and family if the policy has become SingleStack."""
    if new.ip_family_policy == SINGLE_STACK:
        if new.cluster_ips == old.cluster_ips:
            new.cluster_ips = new.cluster_ips[:1]
        if new.ip_families == old.ip_families:
            new.ip_families = new.ip_families[:1]
        return
    for before, after, name in (
        (old.cluster_ips, new.cluster_ips, "cluster IP"),
        (old.ip_families, new.ip_families, "IP family"),
    ):
        if after and len(after) < len(before):
            rule = f"must be 'SingleStack' to release the secondary {name}"
            yield invalid(_POLICY, new.ip_family_policy, rule)


def _validate_policy(spec: ServiceSpec) -> FieldErrors:
    if spec.ip_family_policy != SINGLE_STACK:
        return
    for values, name in ((spec.cluster_ips, "cluster IPs"), (spec.ip_families, "IP families")):
        if len(values) == 2:
            rule = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {name} are"
            yield invalid(_POLICY, spec.ip_family_policy, f"{rule} specified")


def _other(family: str) -> str:
    return IPV6 if family == IPV4 else IPV4
