"""Writes that need more permissions than their request: those for what the object refers to."""

from typing import Any

import pytest

from tests.apis.kinds.kind_server import KindServer
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
PARAMETER = {"name": "p", "namespace": "default", "parameterNotFoundAction": "Deny"}
DEVICE = {"driver": "d.io", "pool": "p", "device": "dev"}
REPORT = {"status": {"devices": [DEVICE]}}
FLAVOURS = ("Validating", "Mutating")


class Person:
    """A user with the permissions of one cluster role."""

    def __init__(self, kinds: KindServer, name: str) -> None:
        self._kinds, self._name, self._roles = kinds, name, 0
        self.headers = {"impersonate-user": name}
        self.described = f"&{{{name}  [system:authenticated] map[]}}"

    async def may(self, verbs: list[str], group: str, *resources: str, names: Any = ()) -> None:
        rule: dict[str, Any] = {"apiGroups": [group], "resources": resources, "verbs": verbs}
        if names:
            rule["resourceNames"] = names
        self._roles += 1
        name = f"{self._name.replace(':', '-')}-{self._roles}"
        reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
        subject = {"kind": "User", "name": self._name, "apiGroup": RBAC}
        role = {"metadata": {"name": name}, "rules": [rule]}
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        await self._kinds.driver.post(f"/apis/{RBAC}/v1/clusterroles", role)
        made = await self._kinds.driver.post(f"/apis/{RBAC}/v1/clusterrolebindings", binding)
        assert made.code == 201, made.json

    async def send(self, method: str, path: str, document: Any) -> Answer:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {**self.headers, "content-type": kind}
        return await self._kinds.driver.send(method, path, json=document, headers=headers)


def policy(flavour: str, name: str, parameters: Any = None) -> dict[str, Any]:
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["deployments"],
    }
    spec: dict[str, Any] = {"matchConstraints": {"resourceRules": [rule]}}
    if flavour == "Validating":
        spec["validations"] = [{"expression": "true"}]
    else:
        change = {"expression": "Object{}"}
        spec["mutations"] = [{"patchType": "ApplyConfiguration", "applyConfiguration": change}]
        spec["reinvocationPolicy"] = "Never"
    if parameters:
        spec["paramKind"] = parameters
    return {"metadata": {"name": name}, "spec": spec}


def binding(flavour: str, name: str, policy_name: str, parameter: Any) -> dict[str, Any]:
    spec = {"policyName": policy_name, "paramRef": parameter}
    if flavour == "Validating":
        spec["validationActions"] = ["Deny"]
    return {"metadata": {"name": name}, "spec": spec}


def refusal(answer: Answer) -> str:
    """Return the only cause of a refused write."""
    assert answer.code == 422, answer.json
    (cause,) = answer.json["details"]["causes"]
    assert cause["reason"] == "FieldValueForbidden"
    return f"{cause['field']}: {cause['message'].removeprefix('Forbidden: ')}"


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_the_kind_of_parameters_must_be_readable(kinds: KindServer, flavour: str) -> None:
    person = Person(kinds, f"author-{flavour.lower()}")
    path = f"{ADMISSION}/{flavour.lower()}admissionpolicies"
    await person.may(["*"], "admissionregistration.k8s.io", path.rpartition("/")[2])
    name = f"kind-{flavour.lower()}"

    refused = await person.send("POST", path, policy(flavour, name, CONFIG_MAP))
    plain = await person.send("POST", path, policy(flavour, name))
    added = await person.send("PATCH", f"{path}/{name}", {"spec": {"paramKind": CONFIG_MAP}})

    expected = (
        f'spec.paramKind: user {person.described} must have "get" permission on all objects'
        " of the referenced paramKind (kind=ConfigMap, apiVersion=v1)"
    )
    assert (refusal(refused), plain.code, refusal(added)) == (expected, 201, expected)

    await person.may(["get"], "", "configmaps")
    added = await person.send("PATCH", f"{path}/{name}", {"spec": {"paramKind": CONFIG_MAP}})
    assert added.code == 200


@pytest.mark.parametrize("flavour", FLAVOURS)
async def test_the_parameter_of_a_binding_must_be_readable(kinds: KindServer, flavour: str) -> None:
    person = Person(kinds, f"binder-{flavour.lower()}")
    path = f"{ADMISSION}/{flavour.lower()}admissionpolicybindings"
    await person.may(["*"], "admissionregistration.k8s.io", path.rpartition("/")[2])
    policies = f"{ADMISSION}/{flavour.lower()}admissionpolicies"
    unknown = {"apiVersion": "x.io/v1", "kind": "Nope"}
    await kinds.driver.post(policies, policy(flavour, "of-config-maps", CONFIG_MAP))
    await kinds.driver.post(policies, policy(flavour, "of-nothing", unknown))

    async def refused(policy_name: str, parameter: Any) -> str:
        document = binding(flavour, f"bound-{flavour.lower()}", policy_name, parameter)
        return refusal(await person.send("POST", path, document))

    who = person.described
    everything = f'user {who} does not have "get" permission for all groups, versions and resources'
    assert await refused("missing", PARAMETER) == (
        "spec.paramRef: unable to get policy missing to determine minimum required permissions"
        f" and {everything}"
    )
    assert await refused("of-nothing", PARAMETER) == (
        "spec.paramRef: unable to resolve paramKind &{x.io/v1 Nope} to determine minimum required"
        f" permissions and {everything}"
    )
    selected = {"selector": {}, "parameterNotFoundAction": "Deny"}
    words = (who, "list") if flavour == "Validating" else ("list", who)
    assert await refused("of-config-maps", selected) == (
        'spec.paramRef: user {} does not have "{}" permission on the object referenced by'
        " paramRef".format(*words)
    )

    await person.may(["get"], "", "configmaps", names=["p"])
    document = binding(flavour, f"bound-{flavour.lower()}", "of-config-maps", PARAMETER)
    assert (await person.send("POST", path, document)).code == 201


async def allocated_claim(kinds: KindServer, name: str, **allocation: Any) -> str:
    """Create a claim with an allocated device; return the path of its status."""
    request = {"name": "r", "exactly": {"deviceClassName": "c.io"}}
    claim = {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}}
    assert (await kinds.driver.post(CLAIMS, claim)).code == 201
    path = f"{CLAIMS}/{name}/status"
    if allocation:
        answer = await kinds.driver.patch(path, {"status": {"allocation": allocation}})
        assert answer.code == 200, answer.json
    return path


async def test_parts_of_the_status_of_a_claim_need_permissions(kinds: KindServer) -> None:
    person = Person(kinds, "driver")
    await person.may(["*"], "resource.k8s.io", "resourceclaims", "resourceclaims/status")
    path = await allocated_claim(kinds, "guarded")
    allocated = {"status": {"allocation": {"devices": {"results": [{"request": "r", **DEVICE}]}}}}

    assert refusal(await person.send("PATCH", path, allocated)) == (
        "status.allocation: changing status.allocation or status.reservedFor requires"
        ' resource="resourceclaims/binding", verb="patch" permission:'
        ' resourceclaims.resource.k8s.io is forbidden: User "driver" cannot patch resource'
        ' "resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope'
    )
    await person.may(["patch"], "resource.k8s.io", "resourceclaims/binding")
    assert (await person.send("PATCH", path, allocated)).code == 200
    assert refusal(await person.send("PATCH", path, REPORT)) == (
        'status.devices: changing status.devices requires resource="resourceclaims/driver",'
        ' verb="[arbitrary-node:patch]" permission: resourceclaims.resource.k8s.io "d.io" is'
        ' forbidden: User "driver" cannot arbitrary-node:patch resource "resourceclaims/driver"'
        ' in API group "resource.k8s.io" in the namespace "default"'
    )
    await person.may(
        ["arbitrary-node:patch"], "resource.k8s.io", "resourceclaims/driver", names=["d.io"]
    )
    assert (await person.send("PATCH", path, REPORT)).code == 200


async def test_a_driver_on_the_node_of_a_claim_has_a_verb_of_its_own(kinds: KindServer) -> None:
    person = Person(kinds, "system:serviceaccount:default:plugin")
    await person.may(["patch"], "resource.k8s.io", "resourceclaims/status")
    await person.may(["associated-node:patch"], "resource.k8s.io", "resourceclaims/driver")
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    path = await allocated_claim(
        kinds,
        "local",
        devices={"results": [{"request": "r", **DEVICE}]},
        nodeSelector={"nodeSelectorTerms": [{"matchFields": [field]}]},
    )

    elsewhere = await person.send("PATCH", path, REPORT)
    person.headers["impersonate-extra-authentication.kubernetes.io%2fnode-name"] = "n1"
    on_node = await person.send("PATCH", path, REPORT)

    assert 'verb="[arbitrary-node:patch]" permission' in refusal(elsewhere)
    assert on_node.code == 200
