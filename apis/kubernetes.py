"""KUBERNETES: every group that Kubernetes serves, for `apiserver serve apis.kubernetes:KUBERNETES`.

A server has the groups for access, authentication and authorization in any case: they are built
from its own parts, and so they are not listed here.
"""

from dataclasses import replace
from typing import Final

from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.apiextensions.install import APIEXTENSIONS
from apis.apiregistration.install import APIREGISTRATION
from apis.apps.install import APPS
from apis.autoscaling.install import AUTOSCALING
from apis.batch.install import BATCH
from apis.certificates.install import CERTIFICATES
from apis.coordination.install import COORDINATION
from apis.core.install_full import FULL_CORE
from apis.discovery.install import DISCOVERY
from apis.events.install import EVENTS
from apis.flowcontrol.install import FLOWCONTROL
from apis.networking.install import NETWORKING
from apis.node.install import NODE
from apis.policy.install import POLICY
from apis.resource.install import RESOURCE
from apis.scheduling.install import SCHEDULING
from apis.storage.install import STORAGE
from apis.storagemigration.install import STORAGEMIGRATION
from apiserver import Group

_GROUPS: Final[tuple[Group, ...]] = (
    FULL_CORE,
    APIREGISTRATION,
    APPS,
    EVENTS,
    AUTOSCALING,
    BATCH,
    CERTIFICATES,
    NETWORKING,
    POLICY,
    STORAGE,
    ADMISSIONREGISTRATION,
    APIEXTENSIONS,
    SCHEDULING,
    COORDINATION,
    NODE,
    DISCOVERY,
    RESOURCE,
    FLOWCONTROL,
    STORAGEMIGRATION,
)

KUBERNETES: Final = tuple(replace(group, stable=True) for group in _GROUPS)
"""A server lists them in the order of Kubernetes' discovery."""
