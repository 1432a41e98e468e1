"""kubectl proxy: plain HTTP for anything that cannot log in by itself."""

import json
import urllib.request

from tests.kubectl.runner import Kubectl


def test_requests_and_watches_pass_through_a_proxy(kubectl: Kubectl) -> None:
    path = f"/api/v1/namespaces/{kubectl.namespace}/configmaps"

    with kubectl.started("proxy", "--port=0") as proxy:
        address = "http://" + proxy.line().removeprefix("Starting to serve on ")
        body = json.dumps({"metadata": {"name": "a"}}).encode()
        create = urllib.request.Request(f"{address}{path}", body)
        create.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(create, timeout=10) as answer:
            made = json.load(answer)
        with urllib.request.urlopen(f"{address}{path}?watch=1", timeout=10) as stream:
            event = json.loads(stream.readline())

    assert made["metadata"]["name"] == "a"
    assert event["type"] == "ADDED"
    assert event["object"]["metadata"]["uid"] == made["metadata"]["uid"]
