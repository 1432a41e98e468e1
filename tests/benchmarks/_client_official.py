# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""What is measured, with the official `kubernetes` package.

Its untyped objects are those of its dynamic client.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from kubernetes import client, config, watch

from tests.benchmarks._client_worker import (
    FOUND,
    IN_FLIGHT,
    LISTED,
    MADE,
    NAMESPACE,
    Meter,
    documents,
)


def typed() -> client.CoreV1Api:
    config.load_kube_config()
    return client.CoreV1Api()


def untyped() -> Any:
    # Imported here: a program without untyped objects does not load it.
    from kubernetes.dynamic import DynamicClient

    config.load_kube_config()
    settings = client.Configuration.get_default_copy()
    settings.connection_pool_maxsize = IN_FLIGHT
    return DynamicClient(client.ApiClient(settings)).resources.get(api_version="v1", kind="Pod")


def read_one() -> None:
    assert typed().read_namespaced_pod("pod-0", NAMESPACE).status.phase == "Running"


def list_typed(meter: Meter) -> None:
    pods = typed()
    pods.read_namespaced_pod("pod-0", NAMESPACE)
    with meter:
        page = pods.list_namespaced_pod(NAMESPACE)
        found = {(pod.status.phase, pod.spec.containers[0].image) for pod in page.items}
    assert (len(page.items), found) == (LISTED, FOUND)


def list_untyped(meter: Meter) -> None:
    pods = untyped()
    pods.get("pod-0", NAMESPACE)
    with meter:
        page = pods.get(namespace=NAMESPACE)
        found = {(pod.status.phase, pod.spec.containers[0].image) for pod in page.items}
    assert (len(page.items), found) == (LISTED, FOUND)


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
    pods.get("pod-0", NAMESPACE)
    with meter:
        stream = watch.Watch()
        seen = 0
        for event in pods.watch(namespace=NAMESPACE, watcher=stream):
            seen += bool(event["object"].metadata.name)
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
    pods.get(namespace=MADE, limit=1)
    with meter:
        for document in made:
            pods.create(body=document, namespace=MADE)


def create_many(meter: Meter) -> None:
    pods, made = untyped(), documents()
    pods.get(namespace=MADE, limit=1)

    def create_one(document: dict) -> None:
        pods.create(body=document, namespace=MADE)

    with meter, ThreadPoolExecutor(IN_FLIGHT) as pool:
        list(pool.map(create_one, made))
