"""Discovery: the groups, versions and resources of the server, per group or aggregated.

Documents change only when groups are added or removed, so each is built once per set of groups.
Clients recognize the aggregated form by its Content-Type, which must be exactly the requested one.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator
from typing import Final

from falcon.asgi import Request, Response

from apimachinery.codec import dump_json
from apimachinery.meta.discovery import (
    APIGroup,
    APIGroupDiscovery,
    APIGroupDiscoveryList,
    APIGroupList,
    APIResource,
    APIResourceDiscovery,
    APIResourceList,
    APISubresourceDiscovery,
    APIVersionDiscovery,
    APIVersions,
    DiscoveredKind,
    GroupVersionForDiscovery,
    ServerAddressByClientCIDR,
)
from apimachinery.meta.types import ObjectMeta, TypeMeta
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.serialization.media_types import JSON, PROTOBUF, parse_accept
from apiserver.endpoint import Endpoint
from apiserver.group import Subresource
from apiserver.handlers.object_response import accept
from apiserver.handlers.routes import NOT_FOUND, Methods, RefreshedMethods
from apiserver.http.negotiation import ALL_TYPES, Accepted, MediaTypeOffer
from apiserver.http.response import exchange_of, protobuf_codec, render, write
from apiserver.install import Groups, InstalledGroup

AGGREGATED_GROUP: Final = "apidiscovery.k8s.io"
AGGREGATED_KIND: Final = "APIGroupDiscoveryList"
_VERSIONS: Final = ("v2", "v2beta1")


class DiscoveryPages:
    """Serves `/api`, `/apis` and the paths below them, down to the versions."""

    def __init__(self, groups: Callable[[], Groups]) -> None:
        self._groups = groups
        self._offer = MediaTypeOffer(ALL_TYPES, transforms=False)
        self._documents: dict[str, TypeMeta] = {}
        self._revision = -1

    def find(self, prefix: str, rest: str) -> Methods | None:
        """Find the handler of a path below `/api` or `/apis`, after refreshing custom resources."""
        refresh = self._groups().refresh
        if prefix == "api" or refresh is None:
            return self._find(prefix, rest)
        return RefreshedMethods(refresh, lambda: self._find(prefix, rest) or NOT_FOUND)

    def _find(self, prefix: str, rest: str) -> Methods | None:
        groups, parts = self._groups(), rest.split("/") if rest else []
        if prefix == "api":
            core = next((installed for installed in groups if not installed.group.name), None)
            if not parts:
                return Methods(GET=self.on_api)
            if core and len(parts) == 1 and parts[0] in core.versions:
                return self._resources(core, parts[0])
            return None
        if not parts:
            return Methods(GET=self.on_apis)
        group = next(
            (installed for installed in groups if installed.group.name == parts[0] != ""), None
        )
        if group is None or not group.versions or len(parts) > 2:
            return None
        if len(parts) == 1:
            return self._group(group)
        return self._resources(group, parts[1]) if parts[1] in group.versions else None

    async def on_api(self, req: Request, resp: Response) -> None:
        """Respond with the versions of the core group."""
        core = [installed for installed in self._groups() if not installed.group.name]
        if self._write_aggregated(req, resp, core):
            return
        address = ServerAddressByClientCIDR(
            client_cidr="0.0.0.0/0", server_address=req.get_header("host") or ""
        )
        versions = APIVersions(
            kind="APIVersions",
            versions=[version for installed in core for version in installed.versions],
            server_address_by_client_cidrs=[address],
        )
        self._write(req, resp, versions)

    async def on_apis(self, req: Request, resp: Response) -> None:
        """Respond with all groups except the core group."""
        named = [
            installed for installed in self._groups() if installed.group.name and installed.versions
        ]
        if self._write_aggregated(req, resp, named):
            return
        groups = [_group(installed) for installed in named]
        group_list = APIGroupList(kind="APIGroupList", api_version="v1", groups=groups)
        self._write(req, resp, group_list)

    def _group(self, installed: InstalledGroup) -> Methods:
        async def on_get(req: Request, resp: Response) -> None:
            document = _group(installed)
            document.kind, document.api_version = "APIGroup", "v1"
            self._write(req, resp, document)

        return Methods(GET=on_get)

    def _resources(self, installed: InstalledGroup, version: str) -> Methods:
        async def on_get(req: Request, resp: Response) -> None:
            self._write(req, resp, self._resource_list(installed, version))

        return Methods(GET=on_get)

    def _resource_list(self, installed: InstalledGroup, version: str) -> TypeMeta:
        revision = self._groups().revision
        if revision != self._revision:
            self._documents.clear()
            self._revision = revision
        name = str(GroupVersion(installed.group.name, version))
        document = self._documents.get(name)
        if document is None:
            entries = [
                entry
                for endpoint in installed.versions[version].values()
                for entry in _entries(endpoint)
            ]
            # Kubernetes lists the status of a custom resource before its scale.
            resources = sorted(entries, key=_name if installed.is_built_in else _resource_name)
            document = self._documents[name] = APIResourceList(
                kind="APIResourceList", api_version="v1", group_version=name, resources=resources
            )
        return document

    def _write(self, req: Request, resp: Response, document: TypeMeta) -> None:
        exchange = exchange_of(req)
        exchange.accepted = accept(req, self._offer)
        if exchange.accepted.media_type == PROTOBUF:
            write(req, resp, self._encode_protobuf(document))
        else:
            write(req, resp, dump_json(document))

    def _encode_protobuf(self, document: TypeMeta) -> bytes:
        return protobuf_codec().encode(
            document, api_version=document.api_version, kind=document.kind
        )

    def _write_aggregated(self, req: Request, resp: Response, groups: list[InstalledGroup]) -> bool:
        """Respond with the aggregated document if the client prefers it; return whether it does."""
        preferred = aggregated_type(req.get_header("accept") or "")
        if preferred is None:
            return False
        media_type, version = preferred
        document = APIGroupDiscoveryList(
            kind=AGGREGATED_KIND,
            api_version=f"{AGGREGATED_GROUP}/{version}",
            items=[_aggregated_group(installed) for installed in groups],
        )
        pretty = exchange_of(req).accepted.pretty
        data = self._encode_protobuf(document) if media_type == PROTOBUF else dump_json(document)
        etag = f'"{hashlib.sha512(data).hexdigest().upper()}"'
        resp.set_header("etag", etag)
        resp.set_header("vary", "Accept")
        resp.set_header("cache-control", "public")
        resp.content_type = f"{media_type};g={AGGREGATED_GROUP};v={version};as={AGGREGATED_KIND}"
        if req.get_header("if-none-match") == etag:
            resp.status = 304
        else:
            resp.data = render(data, Accepted(media_type, pretty=pretty))
        return True


def aggregated_type(header: str) -> tuple[str, str] | None:
    """Return the preferred aggregated form, as media type and version, None if it is not."""
    for media in parse_accept(header):
        parameters = media.parameters
        if not any(media.matches(media_type) for media_type in ALL_TYPES):
            continue
        if not {"g", "v", "as"} & parameters.keys():
            return None
        requested = parameters.get("g"), parameters.get("as")
        version = parameters.get("v", "")
        if requested == (AGGREGATED_GROUP, AGGREGATED_KIND) and version in _VERSIONS:
            media_type = JSON if media.matches(JSON) else media.name
            if media_type in (JSON, PROTOBUF):
                return media_type, version
    return None


def _group(installed: InstalledGroup) -> APIGroup:
    name = installed.group.name
    versions = [
        GroupVersionForDiscovery(group_version=str(GroupVersion(name, version)), version=version)
        for version in installed.versions
    ]
    return APIGroup(name=name, versions=versions, preferred_version=versions[0])


def _name(entry: APIResource) -> str:
    return entry.name


def _resource_name(entry: APIResource) -> str:
    return entry.name.partition("/")[0]


def _entries(endpoint: Endpoint) -> Iterator[APIResource]:
    resource = endpoint.resource
    yield APIResource(
        name=resource.name,
        singular_name=resource.singular_name,
        namespaced=resource.namespaced,
        kind=resource.kind,
        verbs=endpoint.listed_verbs,
        short_names=list(resource.short_names),
        categories=list(resource.categories),
        storage_version_hash=_storage_hash(endpoint) if endpoint.store else "",
    )
    for sub in resource.subresources:
        kind = _sub_kind(endpoint, sub)
        same_version = kind.group_version == endpoint.version
        yield APIResource(
            name=f"{resource.name}/{sub.name}",
            singular_name="",
            namespaced=resource.namespaced,
            group="" if same_version else kind.group,
            version="" if same_version else kind.version,
            kind=kind.kind,
            verbs=sorted(sub.verbs),
        )


def _aggregated_group(installed: InstalledGroup) -> APIGroupDiscovery:
    versions = [
        APIVersionDiscovery(
            version=version,
            resources=[
                _aggregated_resource(endpoint, is_built_in=installed.is_built_in)
                for _, endpoint in sorted(installed.versions[version].items())
            ],
            freshness="Current",
        )
        for version in installed.versions
    ]
    return APIGroupDiscovery(metadata=ObjectMeta(name=installed.group.name), versions=versions)


def _aggregated_resource(endpoint: Endpoint, *, is_built_in: bool) -> APIResourceDiscovery:
    resource = endpoint.resource
    # Kubernetes names the group and version of a kind only if they differ from those of the
    # resource; of custom resources, always.
    own = endpoint.kind.group_version if is_built_in else None
    return APIResourceDiscovery(
        resource=resource.name,
        response_kind=_discovered_kind(endpoint.kind, own),
        scope="Namespaced" if resource.namespaced else "Cluster",
        singular_resource=resource.singular_name,
        verbs=endpoint.listed_verbs,
        short_names=list(resource.short_names),
        categories=list(resource.categories),
        subresources=[
            APISubresourceDiscovery(
                subresource=sub.name,
                response_kind=_discovered_kind(_sub_kind(endpoint, sub), own),
                verbs=sorted(sub.verbs),
            )
            for sub in sorted(resource.subresources, key=lambda sub: sub.name)
        ],
    )


def _sub_kind(endpoint: Endpoint, sub: Subresource) -> GroupVersionKind:
    return sub.kind or endpoint.kind


def _discovered_kind(kind: GroupVersionKind, own: GroupVersion | None) -> DiscoveredKind:
    if kind.group_version == own:
        return DiscoveredKind(group="", version="", kind=kind.kind)
    return DiscoveredKind(group=kind.group, version=kind.version, kind=kind.kind)


def _storage_hash(endpoint: Endpoint) -> str:
    """Return a hash that changes when the storage version of the resource changes."""
    owner = endpoint.resource.stored_as
    group = owner.group if owner is not None else endpoint.group.name
    stored = f"{group}/{endpoint.storage_version}/{endpoint.kind.kind}"
    digest = hashlib.sha256(stored.encode()).digest()
    return base64.b64encode(digest[:8]).decode()
