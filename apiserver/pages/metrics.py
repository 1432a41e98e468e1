"""`/metrics`: the metrics of the server for Prometheus."""

import asyncio
from collections.abc import Callable, Iterator

from falcon.asgi import Request, Response

from apiserver.http.server_metrics import CONTENT_TYPE, ServerMetrics, Undecodable
from apiserver.install import Groups


class MetricsHandler:
    """Serves the metrics in the Prometheus text format."""

    def __init__(self, metrics: ServerMetrics, groups: Callable[[], Groups]) -> None:
        self._metrics = metrics
        self._groups = groups

    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = CONTENT_TYPE
        undecodable = list(undecodable_objects(self._groups()))
        # A server with many resources has megabytes of text.
        resp.data = await asyncio.to_thread(self._metrics.render, undecodable)


def undecodable_objects(groups: Groups) -> Iterator[Undecodable]:
    """Return the undecodable objects of every stored resource."""
    for installed in groups:
        for name, store in installed.stores.items():
            # Each version of a custom resource has its own view; others share that of the store.
            versions = (endpoints.get(name) for endpoints in installed.versions.values())
            views = {store.view, *(endpoint.view for endpoint in versions if endpoint)}
            keys = {key for view in views for key in view.problems}
            errors = sum(view.problems.take_count() for view in views)
            yield Undecodable(store.rules.resource, len(keys), errors)
