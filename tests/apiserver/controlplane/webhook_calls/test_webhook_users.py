"""Which credentials of a kubeconfig a webhook gets."""

from pathlib import Path

import pytest
import yaml

from apiserver.admission.configuration import (
    AdmissionConfiguration,
    InvalidAdmissionConfiguration,
)
from apiserver.controlplane.webhook_calls.webhook_users import KubeconfigUsers, webhook_users
from client.auth.kubeconfig import Kubeconfig

PLUGIN = "MutatingAdmissionWebhook"


def users(*names: str, current: str = "") -> KubeconfigUsers:
    document = {
        "users": [{"name": name, "user": {"token": f"of {name}"}} for name in names],
        "contexts": [{"name": "now", "context": {"cluster": "", "user": current}}],
        "current-context": "now" if current else "",
    }
    return KubeconfigUsers(Kubeconfig.parse(yaml.safe_dump(document).encode(), folder=Path()))


@pytest.mark.parametrize(
    ("host", "names", "chosen"),
    [
        ("hooks.example.com:8443", ("*", "*.example.com:8443", "hooks.example.com:8443"), 2),
        ("hooks.example.com:8443", ("*", "*.com:8443", "*.example.com:8443"), 2),
        ("hooks.example.com:8443", ("hooks.example.com", "*.example.com", "*"), 2),
        ("hooks.example.com:443", ("hooks.example.com", "*.example.com:443"), 1),
        ("hooks.example.com:443", ("*", "*.example.com", "hooks.example.com"), 2),
        ("hooks.example.com:443", ("*", "*.com"), 1),
        ("[::1]:443", ("*", "::1"), 1),
        ("admit.tools.svc:443", ("*", "*.tools.svc", "admit.tools.svc"), 2),
        ("admit.tools.svc:8443", ("admit.tools.svc", "admit.tools.svc:8443"), 1),
    ],
)
def test_the_best_name_for_the_host_is_chosen(
    host: str, names: tuple[str, ...], chosen: int
) -> None:
    assert users(*names).user_of(host).token == f"of {names[chosen]}"


def test_the_user_of_the_current_context_is_the_last_choice() -> None:
    assert users("other", "ann", current="ann").user_of("a.b:1").token == "of ann"
    assert users("other", "ann", "*", current="ann").user_of("a.b:1").token == "of *"


def test_a_webhook_that_nobody_is_configured_for_gets_no_credentials() -> None:
    assert users("other", "ann").user_of("a.b:1").credentials() is not None
    assert users("other", "ann").user_of("a.b:1").token == ""


def configured(folder: Path, user: object) -> AdmissionConfiguration:
    (folder / "users.yaml").write_text(yaml.safe_dump({"users": [{"name": "*", "user": user}]}))
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(folder / "users.yaml"),
    }
    file = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": PLUGIN, "configuration": document}],
    }
    (folder / "admission.yaml").write_text(yaml.safe_dump(file))
    return AdmissionConfiguration.read(folder / "admission.yaml")


def test_each_plugin_has_its_own_users(tmp_path: Path) -> None:
    found = webhook_users(configured(tmp_path, {"token": "secret"}))

    assert list(found) == [PLUGIN]
    assert found[PLUGIN].user_of("a.b:1").token == "secret"


@pytest.mark.parametrize(
    ("user", "rule"),
    [
        ({"token": 1}, "*: token: must be a string"),
        ({"auth-provider": {"name": "gcp"}}, "*: auth provider not supported"),
        ({"as": "ann"}, "*: as: users cannot be impersonated at webhooks"),
        (
            {"client-certificate": "missing.pem"},
            "unable to read client-certificate {folder}/missing.pem for * due to"
            " No such file or directory",
        ),
    ],
)
def test_a_user_that_cannot_be_used_is_named(tmp_path: Path, user: object, rule: str) -> None:
    with pytest.raises(InvalidAdmissionConfiguration) as refused:
        webhook_users(configured(tmp_path, user))

    assert refused.value.problems == (
        f"{tmp_path}/admission.yaml: plugins[0].configuration.kubeConfigFile:"
        f" {tmp_path}/users.yaml: {rule.format(folder=tmp_path)}",
    )
