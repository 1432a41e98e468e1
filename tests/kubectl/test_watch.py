"""kubectl get -w and wait: what another process does is seen as it happens."""

from tests.kubectl.manifests import LAMP
from tests.kubectl.runner import Kubectl, one_version


def gadgets(kubectl: Kubectl) -> str:
    return f"/apis/gadgets.example.io/v1/namespaces/{kubectl.namespace}/gadgets"


def create(kubectl: Kubectl, name: str) -> None:
    body = {"metadata": {"name": name}, "spec": {"model": "a1"}}
    assert kubectl.server.request("POST", gadgets(kubectl), body).code == 201


def merge(kubectl: Kubectl, path: str, body: object) -> None:
    kind = {"Content-Type": "application/merge-patch+json"}
    path = f"{gadgets(kubectl)}/{path}"
    assert kubectl.server.request("PATCH", path, body, headers=kind).code == 200


def test_a_watch_lists_and_then_follows(kubectl: Kubectl) -> None:
    create(kubectl, "first")

    with kubectl.started("get", "gd", "-w") as watch:
        header, first = watch.line(), watch.line()
        create(kubectl, "second")
        second = watch.line()
        merge(kubectl, "second", {"spec": {"replicas": 4}})
        changed = watch.line()
        kubectl.server.request("DELETE", f"{gadgets(kubectl)}/second")
        deleted = watch.line()

    assert header == "NAME MODEL DESIRED READY AGE"
    assert first.startswith("first a1 1 0 ")
    assert second.startswith("second a1 1 0 ")
    assert changed.startswith("second a1 4 0 ")
    assert deleted.startswith("second a1 4 0 ")


def test_watch_only_leaves_out_what_was_there(kubectl: Kubectl) -> None:
    create(kubectl, "first")

    with kubectl.started("get", "gd", "--watch-only", "-v=6") as watch:
        watch.await_log("watch=true")
        create(kubectl, "second")
        lines = [watch.line() for _ in range(2)]

    assert lines[0] == "NAME MODEL DESIRED READY AGE"
    assert lines[1].startswith("second a1 1 0 ")


@one_version
def test_a_watch_with_a_selector_and_events_of_its_own(kubectl: Kubectl) -> None:
    shown = r"jsonpath={.type} {.object.metadata.name}{'\n'}"
    arguments = ("get", "gd", "-w", "-l", "lit=yes", "--output-watch-events", "-o", shown)
    create(kubectl, "first")
    merge(kubectl, "first", {"metadata": {"labels": {"lit": "yes"}}})

    with kubectl.started(*arguments) as watch:
        there = watch.line()
        create(kubectl, "second")
        merge(kubectl, "second", {"metadata": {"labels": {"lit": "yes"}}})
        entered = watch.line()
        merge(kubectl, "second", {"metadata": {"labels": {"lit": "no"}}})
        left = watch.line()

    assert there == "ADDED first"
    assert entered == "ADDED second"
    assert left == "DELETED second"


def test_wait_is_over_at_once_when_it_is_so_already(kubectl: Kubectl) -> None:
    create(kubectl, "lamp")
    ready = {"type": "Ready", "status": "True", "reason": "Up", "message": "",
             "lastTransitionTime": "2024-01-01T00:00:00Z"}  # fmt: skip
    merge(kubectl, "lamp/status", {"status": {"readyReplicas": 1, "conditions": [ready]}})

    kubectl.replays("""
        $ kubectl wait gd/lamp --for=condition=Ready --timeout=9s
        gadget.gadgets.example.io/lamp condition met
        $ kubectl wait gd/lamp --for=jsonpath='{.status.readyReplicas}'=1 --timeout=9s
        gadget.gadgets.example.io/lamp condition met
        $ kubectl wait gd/robot --for=delete --timeout=9s
    """)


@one_version
def test_wait_gives_up(kubectl: Kubectl) -> None:
    create(kubectl, "lamp")

    kubectl.replays("""
        $ kubectl wait gd/lamp --for=condition=Ready --timeout=50ms
        error: timed out waiting for the condition on gadgets/lamp
        (exit 1)
    """)


def test_wait_sees_a_condition_come_true(kubectl: Kubectl) -> None:
    create(kubectl, "lamp")
    ready = {"type": "Ready", "status": "True", "reason": "Up", "message": "",
             "lastTransitionTime": "2024-01-01T00:00:00Z"}  # fmt: skip

    with kubectl.started("wait", "gd/lamp", "--for=condition=Ready", "-v=6") as wait:
        wait.await_log("watch=true")
        merge(kubectl, "lamp/status", {"status": {"conditions": [ready]}})
        said = wait.line()
        code = wait.finished()

    assert (said, code) == ("gadget.gadgets.example.io/lamp condition met", 0)


def test_wait_sees_a_deletion(kubectl: Kubectl) -> None:
    create(kubectl, "lamp")

    with kubectl.started("wait", "gd/lamp", "--for=delete", "-v=6") as wait:
        wait.await_log("watch=true")
        kubectl.server.request("DELETE", f"{gadgets(kubectl)}/lamp")
        said = wait.line()
        code = wait.finished()

    assert (said, code) == ("gadget.gadgets.example.io/lamp condition met", 0)


def test_wait_sees_a_creation(kubectl: Kubectl) -> None:
    kubectl.write("lamp.yaml", LAMP)
    if kubectl.version < (1, 31):
        assert 'unrecognized condition: "create"' in kubectl("wait", "gd/x", "--for=create").stderr
        return

    with kubectl.started("wait", "gd/lamp", "--for=create", "--timeout=20s", "-v=6") as wait:
        wait.await_log("404")
        create(kubectl, "lamp")
        said = wait.line()

    assert said == "gadget.gadgets.example.io/lamp condition met"
