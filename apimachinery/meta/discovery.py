"""Discovery: the groups, versions and resources of a server, in both formats that clients request.

The first half is the older format, one document per group and version; the second half is
aggregated discovery (`apidiscovery.k8s.io/v2`), everything in one document.
"""

from apimachinery.meta.types import ListMeta, ObjectMeta, TypeMeta
from apimachinery.model.model import Model, field


class ServerAddressByClientCIDR(Model):
    """The address of the server for clients in a network."""

    client_cidr: str = field(
        wire="clientCIDR", proto=1, published_default="", doc="The network of the clients."
    )
    server_address: str = field(
        proto=2, published_default="", doc="The address, a host with an optional port."
    )


class APIVersions(TypeMeta):
    """The versions of the core group."""

    versions: list[str] = field(proto=1, list_type="atomic", doc="The versions.")
    server_address_by_client_cidrs: list[ServerAddressByClientCIDR] = field(
        default_factory=list,
        wire="serverAddressByClientCIDRs",
        proto=2,
        omit_empty=False,
        list_type="atomic",
        doc="The addresses of the server, by the network of the client.",
    )


class GroupVersionForDiscovery(Model):
    """A version of a group, with and without the name of the group."""

    group_version: str = field(
        proto=1, published_default="", doc="The group and the version, such as apps/v1."
    )
    version: str = field(proto=2, published_default="", doc="The version, such as v1.")


class APIGroup(TypeMeta):
    """One group, its versions in order of preference, and the preferred one."""

    name: str = field(proto=1, published_default="", doc="The name of the group.")
    versions: list[GroupVersionForDiscovery] = field(
        proto=2, list_type="atomic", doc="The versions of the group."
    )
    preferred_version: GroupVersionForDiscovery | None = field(
        None, proto=3, published_default={}, doc="The version that the server prefers."
    )
    server_address_by_client_cidrs: list[ServerAddressByClientCIDR] = field(
        default_factory=list,
        wire="serverAddressByClientCIDRs",
        proto=4,
        list_type="atomic",
        doc="The addresses of the server, by the network of the client.",
    )


class APIGroupList(TypeMeta):
    """The groups of a server."""

    groups: list[APIGroup] = field(proto=1, list_type="atomic", doc="The groups.")


class APIResource(Model):
    """A resource or subresource (`deployments/scale`) in one version."""

    name: str = field(
        proto=1,
        published_default="",
        doc="The plural name of the resource, and for a subresource both names with a slash.",
    )
    singular_name: str = field(proto=6, published_default="", doc="The name of one object of it.")
    namespaced: bool = field(
        proto=2, published_default=False, doc="Whether its objects are in namespaces."
    )
    group: str = field(
        "", proto=8, doc="The group of its documents, if it is another than that of the list."
    )
    version: str = field(
        "", proto=9, doc="The version of its documents, if it is another than that of the list."
    )
    kind: str = field(proto=3, published_default="", doc="The kind of its documents.")
    verbs: list[str] = field(proto=(4, 1), doc="The verbs that it supports.")
    short_names: list[str] = field(
        default_factory=list, proto=5, list_type="atomic", doc="Abbreviations that clients accept."
    )
    categories: list[str] = field(
        default_factory=list,
        proto=7,
        list_type="atomic",
        doc="Groups of resources that it belongs to, such as all.",
    )
    storage_version_hash: str = field(
        "", proto=10, doc="Changes when its objects are stored in another version."
    )


class APIResourceList(TypeMeta):
    """The resources of one version, as discovery lists them."""

    group_version: str = field(
        proto=1, published_default="", doc="The group and version of the resources."
    )
    resources: list[APIResource] = field(
        proto=2, list_type="atomic", doc="The resources of the version."
    )


class DiscoveredKind(Model):
    """The group, version and kind of an object in aggregated discovery."""

    group: str = field(proto=1)
    version: str = field(proto=2)
    kind: str = field(proto=3)


class APISubresourceDiscovery(Model):
    subresource: str = field(proto=1)
    response_kind: DiscoveredKind | None = field(None, proto=2)
    accepted_types: list[DiscoveredKind] = field(default_factory=list, proto=3)
    verbs: list[str] = field(proto=4)


class APIResourceDiscovery(Model):
    resource: str = field(proto=1)
    response_kind: DiscoveredKind | None = field(None, proto=2)
    scope: str = field(proto=3, known=("Cluster", "Namespaced"))
    singular_resource: str = field(proto=4)
    verbs: list[str] = field(proto=5)
    short_names: list[str] = field(default_factory=list, proto=6)
    categories: list[str] = field(default_factory=list, proto=7)
    subresources: list[APISubresourceDiscovery] = field(
        default_factory=list, proto=8, list_map_keys=("subresource",)
    )


class APIVersionDiscovery(Model):
    version: str = field(proto=1)
    resources: list[APIResourceDiscovery] = field(
        default_factory=list, proto=2, list_map_keys=("resource",)
    )
    freshness: str = field("", proto=3, known=("Current", "Stale"))


class APIGroupDiscovery(TypeMeta):
    metadata: ObjectMeta = field(default_factory=ObjectMeta, proto=1)
    versions: list[APIVersionDiscovery] = field(
        default_factory=list, proto=2, list_map_keys=("version",)
    )


class APIGroupDiscoveryList(TypeMeta):
    metadata: ListMeta = field(default_factory=ListMeta, proto=1)
    items: list[APIGroupDiscovery] = field(proto=2)
