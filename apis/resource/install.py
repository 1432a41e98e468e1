"""The group resource.k8s.io as a server installs it."""

from typing import Final

from apis.resource import GROUP, v1
from apis.resource.admission import with_permissions
from apis.resource.printers import (
    DEVICE_TAINT_RULE_COLUMNS,
    RESOURCE_CLAIM_COLUMNS,
    RESOURCE_SLICE_COLUMNS,
)
from apis.resource.register import SLICE_FIELDS, add_to_scheme
from apis.resource.strategy import (
    DeviceClassStrategy,
    DeviceTaintRuleStrategy,
    ResourceClaimStrategy,
    ResourceClaimTemplateStrategy,
    ResourceSliceStrategy,
)
from apiserver import STATUS, Group, Resource

RESOURCE: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    complete=with_permissions,
    resources=(
        Resource(
            "deviceclasses",
            v1.DeviceClass,
            DeviceClassStrategy(),
            namespaced=False,
            roles=(),
        ),
        Resource(
            "devicetaintrules",
            v1.DeviceTaintRule,
            DeviceTaintRuleStrategy(),
            namespaced=False,
            announced_storage_version="v1beta2",
            subresources=(STATUS,),
            columns=DEVICE_TAINT_RULE_COLUMNS,
            roles=(),
        ),
        Resource(
            "resourceclaims",
            v1.ResourceClaim,
            ResourceClaimStrategy(),
            subresources=(STATUS,),
            columns=RESOURCE_CLAIM_COLUMNS,
        ),
        Resource(
            "resourceclaimtemplates",
            v1.ResourceClaimTemplate,
            ResourceClaimTemplateStrategy(),
        ),
        Resource(
            "resourceslices",
            v1.ResourceSlice,
            ResourceSliceStrategy(),
            namespaced=False,
            columns=RESOURCE_SLICE_COLUMNS,
            fields={label: label for label in SLICE_FIELDS},
            roles=(),
        ),
    ),
)
