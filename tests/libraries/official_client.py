# How well the library is typed is not ours to say.
# mypy: ignore-errors
"""The official `kubernetes` package: typed calls, lists, watches, patches, the dynamic client."""

import datetime
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from kubernetes import client, config, dynamic, watch  # type: ignore[import-untyped]
from kubernetes.client.exceptions import ApiException  # type: ignore[import-untyped]

from tests.libraries.widgets import definition

GADGETS = ("gadgets.example.io", "v1")


def typed_objects(namespace: str) -> None:
    core = client.CoreV1Api()
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a"), data={"k": "v"})

    made = core.create_namespaced_config_map(namespace, body)
    made.data["k"] = "w"
    changed = core.replace_namespaced_config_map("a", namespace, made)
    read = core.read_namespaced_config_map("a", namespace)
    patched = core.patch_namespaced_config_map("a", namespace, {"data": {"l": "x"}})
    gone = core.delete_namespaced_config_map("a", namespace)

    assert read.data == {"k": "w"}
    assert read.metadata.resource_version == changed.metadata.resource_version
    assert patched.data == {"k": "w", "l": "x"}
    assert gone["status"] == "Success"
    assert gone["details"]["uid"] == made.metadata.uid


def errors(namespace: str) -> None:
    core = client.CoreV1Api()
    for call, code in (
        (lambda: core.read_namespaced_secret("none", namespace), 404),
        (lambda: core.create_namespace({"metadata": {"name": namespace}}), 409),
        (lambda: core.create_namespaced_service(namespace, {"metadata": {"name": "A"}}), 422),
    ):
        try:
            call()
        except ApiException as error:
            assert error.status == code, error
        else:
            raise AssertionError(f"{code} was expected")


def pages(namespace: str) -> None:
    core = client.CoreV1Api()
    for name in ("a", "b", "c"):
        labels = {"odd": "yes"} if name != "b" else {}
        core.create_namespaced_secret(namespace, {"metadata": {"name": name, "labels": labels}})

    first = core.list_namespaced_secret(namespace, limit=2)
    rest = core.list_namespaced_secret(namespace, limit=2, _continue=first.metadata._continue)
    odd = core.list_namespaced_secret(namespace, label_selector="odd=yes")

    assert [s.metadata.name for s in first.items] == ["a", "b"]
    assert first.metadata.remaining_item_count == 1
    assert [s.metadata.name for s in rest.items] == ["c"]
    assert [s.metadata.name for s in odd.items] == ["a", "c"]


def watches(namespace: str) -> None:
    core = client.CoreV1Api()
    before = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "w"}})
    core.patch_namespaced_config_map("w", namespace, {"data": {"a": "b"}})
    core.delete_namespaced_config_map("w", namespace)

    seen = []
    stream = watch.Watch()
    for event in stream.stream(
        core.list_namespaced_config_map, namespace, resource_version=before, timeout_seconds=20
    ):
        seen.append((event["type"], event["object"].metadata.name, event["object"].data))
        if event["type"] == "DELETED":
            stream.stop()

    assert seen == [
        ("ADDED", "w", None),
        ("MODIFIED", "w", {"a": "b"}),
        ("DELETED", "w", {"a": "b"}),
    ]


def custom_objects(namespace: str) -> None:
    custom = client.CustomObjectsApi()
    body = {
        "apiVersion": "gadgets.example.io/v1",
        "kind": "Gadget",
        "metadata": {"name": "lamp"},
        "spec": {"model": "a1"},
    }

    custom.create_namespaced_custom_object(*GADGETS, namespace, "gadgets", body)
    custom.patch_namespaced_custom_object_status(
        *GADGETS, namespace, "gadgets", "lamp", {"status": {"readyReplicas": 1}}
    )
    custom.patch_namespaced_custom_object_scale(
        *GADGETS, namespace, "gadgets", "lamp", {"spec": {"replicas": 3}}
    )
    read = custom.get_namespaced_custom_object(*GADGETS, namespace, "gadgets", "lamp")
    listed = custom.list_cluster_custom_object(*GADGETS, "gadgets")

    assert read["spec"]["replicas"] == 3
    assert read["status"] == {"readyReplicas": 1}
    assert read["metadata"] in [item["metadata"] for item in listed["items"]]


def definitions(namespace: str) -> None:
    group = f"{namespace}.official.io"
    extensions, custom = client.ApiextensionsV1Api(), client.CustomObjectsApi()
    made = extensions.create_custom_resource_definition(definition(group))
    stream = watch.Watch()
    for event in stream.stream(
        extensions.list_custom_resource_definition,
        field_selector=f"metadata.name={made.metadata.name}",
        timeout_seconds=20,
    ):
        conditions = event["object"].status.conditions or ()
        if any(c.type == "Established" and c.status == "True" for c in conditions):
            stream.stop()
    where = (group, "v1", namespace, "widgets")
    body = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "lamp"}}

    custom.create_namespaced_custom_object(*where, {**body, "spec": {"size": 1}})
    custom.patch_namespaced_custom_object_status(*where, "lamp", {"status": {"any": 1}})
    try:
        custom.patch_namespaced_custom_object(*where, "lamp", {"spec": {"size": 10}})
    except ApiException as error:
        assert error.status == 422
        assert "spec.size in body should be less than or equal to 9" in error.body
    else:
        raise AssertionError("the schema was to be kept to")
    listed = custom.list_namespaced_custom_object(*where)
    extensions.delete_custom_resource_definition(made.metadata.name)

    assert [(item["kind"], item["status"]) for item in listed["items"]] == [("Widget", {"any": 1})]


def dynamic_client(namespace: str) -> None:
    cluster = dynamic.DynamicClient(client.ApiClient())
    gadgets = cluster.resources.get(api_version="gadgets.example.io/v1", kind="Gadget")
    body = {
        "apiVersion": "gadgets.example.io/v1",
        "kind": "Gadget",
        "metadata": {"name": "fan"},
        "spec": {"model": "b2"},
    }

    made = gadgets.create(body=body, namespace=namespace)
    applied = gadgets.server_side_apply(
        body={**body, "spec": {"model": "b2", "replicas": 4}},
        namespace=namespace,
        field_manager="dynamic",
        force_conflicts=True,
    )
    event = next(iter(gadgets.watch(namespace=namespace, name="fan", timeout=20)))
    gone = gadgets.delete(name="fan", namespace=namespace)

    assert made.spec.replicas == 1
    assert applied.spec.replicas == 4
    assert (event["type"], event["object"].metadata.name) == ("ADDED", "fan")
    assert gone.status == "Success"


def service_accounts(namespace: str) -> None:
    core, body = (
        client.CoreV1Api(),
        client.AuthenticationV1TokenRequest(
            spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600)
        ),
    )
    made = core.create_namespaced_service_account_token("default", namespace, body)
    reviews = client.AuthenticationV1Api()
    asked = client.V1TokenReview(spec=client.V1TokenReviewSpec(token=made.status.token))

    with tempfile.TemporaryDirectory() as mounted:
        folder = Path(mounted)
        (folder / "token").write_text(made.status.token)
        root = core.read_namespaced_config_map("kube-root-ca.crt", namespace)
        (folder / "ca.crt").write_text(root.data["ca.crt"])
        url = urlsplit(client.Configuration.get_default_copy().host)
        inside = client.Configuration()
        config.incluster_config.InClusterConfigLoader(
            token_filename=folder / "token",
            cert_filename=folder / "ca.crt",
            environ={
                "KUBERNETES_SERVICE_HOST": url.hostname,
                "KUBERNETES_SERVICE_PORT": str(url.port),
            },
        ).load_and_set(inside)
        api = client.AuthenticationV1Api(client.ApiClient(inside))
        who = api.create_self_subject_review(client.V1SelfSubjectReview())

    name = f"system:serviceaccount:{namespace}:default"
    assert reviews.create_token_review(asked).status.user.username == name
    assert who.status.user_info.username == name


def events(namespace: str) -> None:
    api, core = client.EventsV1Api(), client.CoreV1Api()
    about = client.V1ObjectReference(kind="Gadget", name="lamp", namespace=namespace)

    made = api.create_namespaced_event(
        namespace,
        client.EventsV1Event(
            metadata=client.V1ObjectMeta(generate_name="lamp-"),
            event_time=datetime.datetime.now(datetime.UTC),
            reporting_controller="example.io/gadgets",
            reporting_instance="gadgets-1",
            action="Scale",
            reason="Scaled",
            regarding=about,
            note="scaled to 3",
            type="Normal",
        ),
    )
    read = core.read_namespaced_event(made.metadata.name, namespace)
    (found,) = api.list_namespaced_event(namespace, field_selector="regarding.name=lamp").items

    assert read.message == found.note == "scaled to 3"


def server(_: str) -> None:
    groups = {group.name for group in client.ApisApi().get_api_versions().groups}
    version = client.VersionApi().get_code()
    review = client.AuthorizationV1Api().create_self_subject_access_review(
        {"spec": {"resourceAttributes": {"verb": "get", "resource": "configmaps"}}}
    )

    assert "gadgets.example.io" in groups
    assert version.major == "1"
    assert review.status.allowed


if __name__ == "__main__":
    config.load_kube_config()
    for check in (
        *(typed_objects, errors, pages, watches, custom_objects, definitions, dynamic_client),
        *(service_accounts, events, server),
    ):
        check(sys.argv[1])
        print(check.__name__)
