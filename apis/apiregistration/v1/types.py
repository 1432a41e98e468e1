"""APIService: which server serves a group version."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Bytes, Int32

AVAILABLE: Final = "Available"
"""Condition: requests for the group version can be answered."""
AUTOMANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
"""The label of APIServices that a server keeps: `onstart` or `true`."""
ON_START: Final = "onstart"


class ServiceReference(Model):
    """Reference to a Service in the cluster."""

    namespace: str = field("", proto=1, doc="Namespace of the service. Required.")
    name: str = field("", proto=2, doc="Name of the service. Required.")
    port: Int32 | None = field(None, proto=3, doc="Port of the service, 443 by default.")


class APIServiceSpec(Model):
    """A group version and the server that serves it."""

    service: ServiceReference | None = field(
        None,
        proto=1,
        doc=(
            "Service of the server that serves the group version; without it this server does."
            " Its server must present a certificate for `<name>.<namespace>.svc`."
        ),
    )
    group: str = field("", proto=2, doc="API group; empty for the core group.")
    version: str = field("", proto=3, doc="API version, such as `v1`. Required.")
    insecure_skip_tls_verify: bool = field(
        False,
        proto=4,
        wire="insecureSkipTLSVerify",
        doc="Whether the certificate of the service is not verified. Discouraged; use `caBundle`.",
    )
    ca_bundle: Bytes = field(
        b"",
        proto=5,
        list_type="atomic",
        doc=(
            "CA certificates, as PEM, by which the certificate of the service is verified;"
            " without it the system's certificates are used."
        ),
    )
    group_priority_minimum: Int32 = field(
        0,
        proto=7,
        omit_empty=False,
        doc=(
            "Priority of the group among all groups, at least: clients prefer higher ones. The"
            " maximum over the versions of a group counts; equal groups are ordered by name."
            " From 1 to 20000. Required."
        ),
    )
    version_priority: Int32 = field(
        0,
        proto=8,
        omit_empty=False,
        doc=(
            "Priority of the version in its group, higher first; equal ones are ordered like"
            " Kubernetes' version names, stable first. From 1 to 1000. Required."
        ),
    )


class APIServiceCondition(Model):
    """A condition of an APIService."""

    type: str = field("", proto=1, omit_empty=False, doc="Type of the condition: Available.")
    status: str = field(
        "", proto=2, omit_empty=False, doc="Status of the condition: True, False or Unknown."
    )
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word in CamelCase.")
    message: str = field("", proto=5, doc="Details of the last change, as readable text.")


class APIServiceStatus(Model):
    """Observed state of an APIService."""

    conditions: list[APIServiceCondition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Current conditions of the service.",
    )


class APIService(Object):
    """APIService says which server serves a group version. Its name is `<version>.<group>`."""

    spec: APIServiceSpec = field(
        default_factory=APIServiceSpec, proto=2, doc="The group version and its server."
    )
    status: APIServiceStatus = field(
        default_factory=APIServiceStatus, proto=3, doc="Observed state of the server."
    )
