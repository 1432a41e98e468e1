"""`/metrics`: what the server has counted."""

from falcon.asgi import Request, Response

from apiserver.http.server_metrics import CONTENT_TYPE, ServerMetrics


class MetricsHandler:
    """Answers Prometheus."""

    def __init__(self, metrics: ServerMetrics) -> None:
        self._metrics = metrics

    async def on_get(self, req: Request, resp: Response) -> None:
        resp.content_type = CONTENT_TYPE
        resp.data = self._metrics.render()
