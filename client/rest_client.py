"""RESTClient: builds the requests for the verbs of one resource, and sends them.

Each verb returns a `Request` value; `send` and `stream` send it. Bodies are bytes here: encoding
and decoding objects is left to the caller, such as `client.resource`.
"""

from dataclasses import replace

from apimachinery.serialization.media_types import JSON
from client.transport.request import (
    Pairs,
    PatchType,
    Request,
    ResourceLocation,
    accept_header,
    path_segment,
)
from client.transport.sender import Reply, Sender
from client.transport.transport import Response


class RESTClient:
    """Builds and sends requests for the objects of one resource."""

    def __init__(self, sender: Sender, location: ResourceLocation) -> None:
        self.sender = sender
        self.location = location

    def get(
        self, name: str, *, namespace: str = "", subresource: str = "", query: Pairs = ()
    ) -> Request:
        return self._named_request("get", "GET", name, namespace, subresource, query=query)

    def list(self, *, namespace: str = "", query: Pairs = ()) -> Request:
        return self._request("list", "GET", self.location.path(namespace=namespace), query=query)

    def watch(self, *, namespace: str = "", query: Pairs = ()) -> Request:
        """Build a list request with `watch=true`, which is added to *query* if missing."""
        query = query if ("watch", "true") in query else (*query, ("watch", "true"))
        return self._request("watch", "GET", self.location.path(namespace=namespace), query=query)

    def create(
        self,
        body: bytes,
        *,
        namespace: str = "",
        name: str = "",
        subresource: str = "",
        query: Pairs = (),
    ) -> Request:
        """Build a POST to the collection, or to a subresource of one object."""
        if subresource:
            return self._named_request(
                "create", "POST", name, namespace, subresource, body, query=query
            )
        path = self.location.path(namespace=namespace)
        return self._request("create", "POST", path, body, query=query)

    def replace(
        self,
        name: str,
        body: bytes,
        *,
        namespace: str = "",
        subresource: str = "",
        query: Pairs = (),
    ) -> Request:
        return self._named_request("update", "PUT", name, namespace, subresource, body, query=query)

    def patch(
        self,
        name: str,
        body: bytes,
        patch_type: PatchType,
        *,
        namespace: str = "",
        subresource: str = "",
        query: Pairs = (),
    ) -> Request:
        return self._named_request(
            "patch",
            "PATCH",
            name,
            namespace,
            subresource,
            body,
            content_type=patch_type,
            query=query,
        )

    def delete(
        self, name: str, body: bytes = b"", *, namespace: str = "", query: Pairs = ()
    ) -> Request:
        return self._named_request("delete", "DELETE", name, namespace, "", body, query=query)

    def delete_collection(
        self, body: bytes = b"", *, namespace: str = "", query: Pairs = ()
    ) -> Request:
        path = self.location.path(namespace=namespace)
        return self._request("deletecollection", "DELETE", path, body, query=query)

    async def send(self, request: Request) -> Reply:
        return await self.sender.send(request)

    async def stream(self, request: Request) -> Response | None:
        return await self.sender.stream(request)

    def _named_request(
        self,
        verb: str,
        method: str,
        name: str,
        namespace: str,
        subresource: str,
        body: bytes = b"",
        *,
        content_type: str = JSON,
        query: Pairs = (),
    ) -> Request:
        path_segment("resource name", name)
        path = self.location.path(namespace=namespace, name=name, subresource=subresource)
        request = self._request(verb, method, path, body, content_type=content_type, query=query)
        return replace(request, name=name)

    def _request(
        self,
        verb: str,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        content_type: str = JSON,
        query: Pairs = (),
    ) -> Request:
        headers = accept_header()
        if body:
            headers = (*headers, ("Content-Type", str(content_type)))
        return Request(
            verb=verb,
            method=method,
            path=path,
            query=query,
            headers=headers,
            body=body,
            resource=self.location.resource.group_resource,
        )
