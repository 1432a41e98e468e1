"""Tolerations, taints and external IPs."""

from typing import Any

import pytest

from apimachinery.errors import Forbidden
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.core.admission.external_ips import deny_external_ips
from apis.core.v1.service import Service
from apiserver import Attributes, RequestContext, User
from apiserver.admission.chain import Operation
from tests.apis.admitted import Admitted
from tests.apis.validating import decoded

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


def default_toleration(key: str) -> dict[str, Any]:
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([{"operator": "Exists"}], []),
        ([{"operator": "Exists", "effect": "NoSchedule"}], [NOT_READY, UNREACHABLE]),
        ([{"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}], [UNREACHABLE]),
        ([{"key": UNREACHABLE, "operator": "Exists"}], [NOT_READY]),
    ],
)
async def test_pods_tolerate_unreachable_nodes_for_a_while(
    admitted: Admitted, own: list[dict[str, Any]], added: list[str]
) -> None:
    spec = await admitted.pod(tolerations=own)

    assert spec.get("tolerations", []) == [*own, *map(default_toleration, added)]


async def test_a_new_node_has_the_taint_of_nodes_that_are_not_ready(admitted: Admitted) -> None:
    taint = {"key": NOT_READY, "effect": "NoSchedule"}
    own = {**taint, "value": "x"}

    plain = await admitted.create("nodes", {"metadata": {"name": admitted.new_name()}})
    tainted = await admitted.create(
        "nodes", {"metadata": {"name": admitted.new_name()}, "spec": {"taints": [own]}}
    )

    assert plain["spec"]["taints"] == [taint]
    assert tainted["spec"]["taints"] == [own]


@pytest.mark.parametrize(
    ("new", "old", "refused"),
    [
        ([], None, False),
        (["192.0.2.1"], None, True),
        (["192.0.2.1"], ["192.0.2.1", "192.0.2.2"], False),
        (["192.0.2.3"], ["192.0.2.1"], True),
    ],
)
async def test_services_get_no_new_external_ips(
    new: list[str], old: list[str] | None, refused: bool
) -> None:
    def service(addresses: list[str]) -> Service:
        return decoded(Service, {"metadata": {"name": "s"}, "spec": {"externalIPs": addresses}})

    context = RequestContext(User("jo"), "create", GroupVersionResource("", "v1", "services"))
    attributes = Attributes(
        context,
        Operation.CREATE if old is None else Operation.UPDATE,
        GroupKind("", "Service"),
        service(new),
        service(old) if old is not None else None,
    )

    if not refused:
        deny_external_ips(attributes)
        return
    with pytest.raises(Forbidden) as caught:
        deny_external_ips(attributes)
    assert caught.value.message == (
        'services "s" is forbidden: Use of external IPs is denied by admission control'
    )
