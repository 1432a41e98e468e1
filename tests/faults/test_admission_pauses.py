"""No policy, and no answer of a webhook, holds the event loop for more than 50 ms."""

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from tests.faults.asgi_requests import ask
from tests.faults.campaign import Campaign
from tests.faults.hostile import Request
from tests.faults.requests_at_limits import CONFIG_MAPS, JSON, MIB
from tests.faults.test_pauses import LONGEST, pause_of, prepared
from tests.pauses import machine_factor, measures_time
from tests.webhook_server import Received, WebhookServer, webhook_server

pytestmark = measures_time

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["configmaps"],
}
KEYS = 9_000
TEXT = "a" * 600_000
"""As much as a config map can hold, both together."""

DENIED = 422
EXPRESSIONS = {
    ("every key of many", DENIED): "object.data.all(k, object.data[k].size() < 10)",
    ("every pair of keys", DENIED): "object.data.all(k, object.data.all(j, k != j + 'x'))",
    ("doubled lists", 201): "[1].map(a, [a, a])" + ".map(a, a + a)" * 20 + ".size() > 0",
    ("doubled texts", 201): "['x']" + ".map(a, a + a)" * 20 + ".size() > 0",
    ("a pattern that backtracks", 201): "!object.data['k0'].matches('(a|aa)+b')",
    ("a long text, split", 201): "object.data['k0'].split('a').size() > 0",
    ("a long text, replaced", DENIED): (
        "object.data['k0']" + ".replace('a', 'aa')" * 6 + ".size() > 0"
    ),
    ("a long list, sorted", 201): "object.data.map(k, k + 'x').sort().size() > 0",
    ("a long text, joined", DENIED): "object.data.map(k, object.data[k]).join(',').size() < 0",
}


def patch(operations: list[dict[str, Any]]) -> dict[str, Any]:
    text = base64.b64encode(orjson.dumps(operations)).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": text}


ANSWERS: dict[str, Callable[[], dict[str, Any]]] = {
    "100,000 additions": lambda: patch(
        [{"op": "add", "path": f"/data/x{number}", "value": ""} for number in range(100_000)]
    ),
    "9,000 copies of everything": lambda: patch(
        [{"op": "copy", "from": "/data", "path": f"/data/x{number}"} for number in range(9_000)]
    ),
    "a million values": lambda: patch([{"op": "add", "path": "/data", "value": [{}] * 1_000_000}]),
    "100,000 warnings": lambda: {"allowed": True, "warnings": [f"w{n}" for n in range(100_000)]},
    "a long denial": lambda: {"allowed": False, "status": {"message": "x" * 7 * MIB}},
    "100,000 causes": lambda: {
        "allowed": False,
        "status": {"details": {"causes": [{"field": f"f{n}"} for n in range(100_000)]}},
    },
    "100,000 annotations": lambda: {
        "allowed": True,
        "auditAnnotations": {f"k{number}": "v" for number in range(100_000)},
    },
}


def request(method: str, path: str, document: Any, query: bytes = b"") -> Request:
    headers = [(b"host", b"x"), (b"content-type", JSON.encode())]
    return Request(method, path, query, headers, orjson.dumps(document))


async def send(campaign: Campaign, method: str, path: str, document: Any) -> None:
    reply = await ask(campaign.server.app, request(method, path, document), campaign.server.token)
    assert reply.code in (200, 201), reply


def large_map() -> Request:
    data = {f"k{number}": "v" for number in range(KEYS)}
    document = {"metadata": {"name": "large"}, "data": {**data, "k0": TEXT}}
    return request("POST", CONFIG_MAPS, document, b"dryRun=All")


@contextmanager
def webhook_in_a_thread() -> Iterator[WebhookServer]:
    """A webhook whose own work does not hold up the event loop of the test."""
    started, ending = threading.Event(), threading.Event()
    running: list[WebhookServer] = []

    async def serve() -> None:
        async with webhook_server(lambda received: b"{}") as server:
            running.append(server)
            started.set()
            await asyncio.to_thread(ending.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    started.wait()
    try:
        yield running[0]
    finally:
        ending.set()
        thread.join()


async def test_no_policy_holds_the_loop() -> None:
    bound, found, codes = LONGEST * machine_factor(), {}, {}
    binding = {"policyName": "hostile", "validationActions": ["Deny"]}
    policies = f"{REGISTRATION}/validatingadmissionpolicies"
    async with prepared() as campaign:
        document = {"metadata": {"name": "hostile"}, "spec": binding}
        await send(campaign, "POST", f"{REGISTRATION}/validatingadmissionpolicybindings", document)
        for case, expression in EXPRESSIONS.items():
            rules = {"matchConstraints": {"resourceRules": [RULE]}}
            spec = {**rules, "validations": [{"expression": expression}]}
            await send(campaign, "POST", policies, {"metadata": {"name": "hostile"}, "spec": spec})
            found[case], codes[case] = await pause_of(campaign, large_map, bound)
            await send(campaign, "DELETE", f"{policies}/hostile", {})

    assert codes == {case: case[1] for case in EXPRESSIONS}
    assert not {case: pause for case, pause in found.items() if pause > bound}


async def test_no_answer_of_a_webhook_holds_the_loop() -> None:
    bound, found = LONGEST * machine_factor(), {}
    with webhook_in_a_thread() as hook:
        webhook = {
            "name": "x.example.com",
            "clientConfig": {"url": hook.url(), "caBundle": base64.b64encode(hook.ca).decode()},
            "rules": [RULE],
            "sideEffects": "None",
            "failurePolicy": "Ignore",
            "admissionReviewVersions": ["v1"],
        }
        document = {"metadata": {"name": "hostile"}, "webhooks": [webhook]}
        async with prepared() as campaign:
            await send(campaign, "POST", f"{REGISTRATION}/mutatingwebhookconfigurations", document)
            async with asyncio.timeout(10):
                while not hook.received:  # the cache follows the store
                    await ask(campaign.server.app, large_map(), campaign.server.token)
            for name, build in ANSWERS.items():
                response = orjson.dumps(build())[1:]

                def answer(received: Received, response: bytes = response) -> bytes:
                    uid = received.review["request"]["uid"].encode()
                    return (
                        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",'
                        b'"response":{"uid":"%b",%b}' % (uid, response)
                    )

                hook.answer = answer
                before = len(hook.received)
                # As in Kubernetes, a patch that does not fit is an error of the server.
                found[name] = await pause_of(campaign, large_map, bound, below=501)
                assert len(hook.received) > before

    assert not {name: each for name, each in found.items() if each[0] > bound}
