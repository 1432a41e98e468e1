"""Discovery: what the server serves, one group at a time or everything in one document.

Documents change only when groups come or go, so each is made once for each set of groups. The
aggregated form is told apart by its Content-Type, which must be exactly the one asked for.
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
from apimachinery.protobuf import ProtobufCodec
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.serialization.media_types import JSON, PROTOBUF, parse_accept
from apiserver.endpoint import Endpoint
from apiserver.group import Subresource
from apiserver.handlers.object_response import accept
from apiserver.handlers.routes import NOWHERE, Methods, RefreshedMethods
from apiserver.http.negotiation import ALL_TYPES, Accepted, MediaTypeOffer
from apiserver.http.response import exchange_of, rendered, write
from apiserver.install import Groups, InstalledGroup

AGGREGATED_GROUP: Final = "apidiscovery.k8s.io"
AGGREGATED_KIND: Final = "APIGroupDiscoveryList"
_VERSIONS: Final = ("v2", "v2beta1")


class DiscoveryPages:
    """Answers `/api`, `/apis` and what is below them down to the versions."""

    def __init__(self, groups: Callable[[], Groups]) -> None:
        self._groups = groups
        self._offer = MediaTypeOffer(ALL_TYPES, transforms=False)
        self._protobuf = ProtobufCodec()
        self._documents: dict[str, TypeMeta] = {}
        self._revision = -1

    def find(self, prefix: str, rest: str) -> Methods | None:
        """What answers below `/api` or `/apis`, when those defined last have been looked at."""
        refresh = self._groups().refresh
        if prefix == "api" or refresh is None:
            return self._find(prefix, rest)
        return RefreshedMethods(refresh, lambda: self._find(prefix, rest) or NOWHERE)

    def _find(self, prefix: str, rest: str) -> Methods | None:
        groups, parts = self._groups(), rest.split("/") if rest else []
        if prefix == "api":
            core = next((found for found in groups if not found.group.name), None)
            if not parts:
                return Methods(GET=self.on_api)
            if core and len(parts) == 1 and parts[0] in core.versions:
                return self._resources(core, parts[0])
            return None
        if not parts:
            return Methods(GET=self.on_apis)
        group = next((found for found in groups if found.group.name == parts[0] != ""), None)
        if group is None or not group.versions or len(parts) > 2:
            return None
        if len(parts) == 1:
            return self._group(group)
        return self._resources(group, parts[1]) if parts[1] in group.versions else None

    async def on_api(self, req: Request, resp: Response) -> None:
        """The versions of the core group."""
        core = [found for found in self._groups() if not found.group.name]
        if self._write_aggregated(req, resp, core):
            return
        address = ServerAddressByClientCIDR(
            client_cidr="0.0.0.0/0", server_address=req.get_header("host") or ""
        )
        versions = APIVersions(
            kind="APIVersions",
            versions=[version for found in core for version in found.versions],
            server_address_by_client_cidrs=[address],
        )
        self._write(req, resp, versions)

    async def on_apis(self, req: Request, resp: Response) -> None:
        """All groups but the core."""
        named = [found for found in self._groups() if found.group.name and found.versions]
        if self._write_aggregated(req, resp, named):
            return
        groups = [_group(found) for found in named]
        listed = APIGroupList(kind="APIGroupList", api_version="v1", groups=groups)
        self._write(req, resp, listed)

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
        found = self._documents.get(name)
        if found is None:
            resources = sorted(
                (
                    entry
                    for endpoint in installed.versions[version].values()
                    for entry in _entries(endpoint)
                ),
                key=lambda entry: entry.name,
            )
            found = self._documents[name] = APIResourceList(
                kind="APIResourceList", api_version="v1", group_version=name, resources=resources
            )
        return found

    def _write(self, req: Request, resp: Response, document: TypeMeta) -> None:
        exchange = exchange_of(req)
        exchange.accepted = accept(req, self._offer)
        if exchange.accepted.media_type == PROTOBUF:
            write(req, resp, self._encoded(document))
        else:
            write(req, resp, dump_json(document))

    def _encoded(self, document: TypeMeta) -> bytes:
        return self._protobuf.encode(document, api_version=document.api_version, kind=document.kind)

    def _write_aggregated(self, req: Request, resp: Response, groups: list[InstalledGroup]) -> bool:
        """Answer with everything in one document, if the client would rather have that."""
        wanted = aggregated_type(req.get_header("accept") or "")
        if wanted is None:
            return False
        media_type, version = wanted
        document = APIGroupDiscoveryList(
            kind=AGGREGATED_KIND,
            api_version=f"{AGGREGATED_GROUP}/{version}",
            items=[_aggregated_group(found) for found in groups],
        )
        pretty = exchange_of(req).accepted.pretty
        data = self._encoded(document) if media_type == PROTOBUF else dump_json(document)
        etag = f'"{hashlib.sha512(data).hexdigest().upper()}"'
        resp.set_header("etag", etag)
        resp.set_header("vary", "Accept")
        resp.set_header("cache-control", "public")
        resp.content_type = f"{media_type};g={AGGREGATED_GROUP};v={version};as={AGGREGATED_KIND}"
        if req.get_header("if-none-match") == etag:
            resp.status = 304
        else:
            resp.data = rendered(data, Accepted(media_type, pretty=pretty))
        return True


def aggregated_type(header: str) -> tuple[str, str] | None:
    """The media type and version of the aggregated form a client prefers; None for the other."""
    for media in parse_accept(header):
        parameters = media.parameters
        if not any(media.matches(known) for known in ALL_TYPES):
            continue
        if not {"g", "v", "as"} & parameters.keys():
            return None
        asked = parameters.get("g"), parameters.get("as")
        version = parameters.get("v", "")
        if asked == (AGGREGATED_GROUP, AGGREGATED_KIND) and version in _VERSIONS:
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
        own = kind.group_version == endpoint.version
        yield APIResource(
            name=f"{resource.name}/{sub.name}",
            singular_name="",
            namespaced=resource.namespaced,
            group="" if own else kind.group,
            version="" if own else kind.version,
            kind=kind.kind,
            verbs=sorted(sub.verbs),
        )


def _aggregated_group(installed: InstalledGroup) -> APIGroupDiscovery:
    versions = [
        APIVersionDiscovery(
            version=version,
            resources=[
                _aggregated_resource(endpoint)
                for _, endpoint in sorted(installed.versions[version].items())
            ],
            freshness="Current",
        )
        for version in installed.versions
    ]
    return APIGroupDiscovery(metadata=ObjectMeta(name=installed.group.name), versions=versions)


def _aggregated_resource(endpoint: Endpoint) -> APIResourceDiscovery:
    resource = endpoint.resource
    return APIResourceDiscovery(
        resource=resource.name,
        response_kind=_discovered(endpoint.kind),
        scope="Namespaced" if resource.namespaced else "Cluster",
        singular_resource=resource.singular_name,
        verbs=endpoint.listed_verbs,
        short_names=list(resource.short_names),
        categories=list(resource.categories),
        subresources=[
            APISubresourceDiscovery(
                subresource=sub.name,
                response_kind=_discovered(_sub_kind(endpoint, sub)),
                verbs=sorted(sub.verbs),
            )
            for sub in sorted(resource.subresources, key=lambda sub: sub.name)
        ],
    )


def _sub_kind(endpoint: Endpoint, sub: Subresource) -> GroupVersionKind:
    return sub.kind or endpoint.kind


def _discovered(kind: GroupVersionKind) -> DiscoveredKind:
    return DiscoveredKind(group=kind.group, version=kind.version, kind=kind.kind)


def _storage_hash(endpoint: Endpoint) -> str:
    """A text that changes when the stored form does."""
    group = endpoint.group
    stored = f"{group.name}/{endpoint.storage_version}/{endpoint.kind.kind}"
    digest = hashlib.sha256(stored.encode()).digest()
    return base64.b64encode(digest[:8]).decode()
