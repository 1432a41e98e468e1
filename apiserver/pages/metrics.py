"""`/metrics`: the metrics of the server for Prometheus."""

from falcon.asgi import Request, Response

from apiserver.http.server_metrics import CONTENT_TYPE, ServerMetrics


class MetricsHandler:
    """Serves the metrics in the Prometheus text format."""

    def __init__(self, metrics: ServerMetrics) -> None:
        self._metrics = metrics

    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = CONTENT_TYPE
        resp.data = self._metrics.render()
