"""DenyServiceExternalIPs: services get no new external IPs, which anybody could claim otherwise."""

from apis.core.v1.service import Service
from apiserver import Attributes


def deny_external_ips(attributes: Attributes) -> None:
    """Reject a service with external IPs that it does not have yet."""
    new, old = attributes.object, attributes.old_object
    if attributes.subresource or not isinstance(new, Service):
        return
    known = old.spec.external_ips if isinstance(old, Service) else []
    if not set(new.spec.external_ips).issubset(known):
        raise attributes.forbidden("Use of external IPs is denied by admission control")
