# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""What is measured, with the official `kubernetes` package.

Its classes are bound to the paths of the kinds they are for, so a pod of another group is read by
its V1Pod over a changed path. The fields that the pod of the benchmarks has otherwise, those of
its probes, V1Pod ignores.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

from kubernetes import client, config, watch

from tests.benchmarks._client_worker import (
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)

GROUP = ("bench.example.io", "v1")


class OtherPath(client.ApiClient):
    def call_api(self, method, url, *arguments, **options):
        moved = url.replace("/api/v1/", "/apis/{}/{}/".format(*GROUP))
        return super().call_api(method, moved, *arguments, **options)


def typed() -> client.CoreV1Api:
    config.load_kube_config()
    return client.CoreV1Api(OtherPath())


def untyped() -> client.CustomObjectsApi:
    config.load_kube_config()
    settings = client.Configuration.get_default_copy()
    settings.connection_pool_maxsize = IN_FLIGHT
    return client.CustomObjectsApi(client.ApiClient(settings))


def read_one() -> None:
    assert typed().read_namespaced_pod("pod-0", NAMESPACE).status.phase == "Running"


def list_typed(meter: Meter) -> None:
    pods = typed()
    pods.read_namespaced_pod("pod-0", NAMESPACE)
    with meter:
        page = pods.list_namespaced_pod(NAMESPACE)
        phases = {pod.status.phase for pod in page.items}
    assert (len(page.items), phases) == (LISTED, {"Running"})


def list_untyped(meter: Meter) -> None:
    pods = untyped()
    pods.get_namespaced_custom_object(*GROUP, NAMESPACE, "pods", "pod-0")
    with meter:
        page = pods.list_namespaced_custom_object(*GROUP, NAMESPACE, "pods")
        phases = {pod["status"]["phase"] for pod in page["items"]}
    assert (len(page["items"]), phases) == (LISTED, {"Running"})


def watch_typed(meter: Meter) -> None:
    pods = typed()
    pods.read_namespaced_pod("pod-0", NAMESPACE)
    with meter:
        stream = watch.Watch()
        seen = 0
        for event in stream.stream(pods.list_namespaced_pod, NAMESPACE):
            seen += bool(event["object"].metadata.name)
            if seen == LISTED:
                stream.stop()


def watch_untyped(meter: Meter) -> None:
    pods = untyped()
    pods.get_namespaced_custom_object(*GROUP, NAMESPACE, "pods", "pod-0")
    with meter:
        stream = watch.Watch()
        seen = 0
        for event in stream.stream(pods.list_namespaced_custom_object, *GROUP, NAMESPACE, "pods"):
            seen += bool(event["object"]["metadata"]["name"])
            if seen == LISTED:
                stream.stop()


def informer(meter: Meter) -> None:
    # Imported here: a program without informers does not load them.
    from kubernetes.informer import ADDED, SharedInformer

    pods = typed()
    pods.read_namespaced_pod("pod-0", NAMESPACE)
    synced = threading.Event()
    seen = []

    def added(_: object) -> None:
        seen.append(1)
        if len(seen) == LISTED:
            synced.set()

    with meter:
        running = SharedInformer(pods.list_namespaced_pod, namespace=NAMESPACE)
        running.add_event_handler(ADDED, added)
        running.start()
        assert synced.wait(60)
    assert len(running.cache.list()) == LISTED


def create(meter: Meter) -> None:
    pods, made = untyped(), documents()
    pods.list_namespaced_custom_object(*GROUP, MADE, "pods", limit=1)
    with meter:
        for document in made:
            pods.create_namespaced_custom_object(*GROUP, MADE, "pods", document)


def create_many(meter: Meter) -> None:
    pods, made = untyped(), documents()
    pods.list_namespaced_custom_object(*GROUP, MADE, "pods", limit=1)

    def create_one(document: dict) -> None:
        pods.create_namespaced_custom_object(*GROUP, MADE, "pods", document)

    with meter, ThreadPoolExecutor(IN_FLIGHT) as pool:
        list(pool.map(create_one, made))
