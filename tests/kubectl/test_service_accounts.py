"""kubectl create token, and what a program can do with one: kubectl itself, and our client."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from apimachinery.scheme import Scheme
from apis.authentication import v1
from apis.authentication.register import add_to_scheme
from client import Client, Config
from tests.kubectl.runner import Kubectl, one_version


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return claims


def whoami(kubectl: Kubectl, token: str) -> dict[str, str]:
    shown = kubectl.output("auth", "whoami", f"--token={token}")
    return dict(line.split(maxsplit=1) for line in shown.splitlines())


def test_a_token_is_made_for_an_account_and_is_it(kubectl: Kubectl) -> None:
    kubectl.output("create", "serviceaccount", "robot")

    token = kubectl.output("create", "token", "robot").strip()

    found = whoami(kubectl, token)
    assert found["Username"] == f"system:serviceaccount:{kubectl.namespace}:robot"
    assert found["Groups"] == (
        f"[system:serviceaccounts system:serviceaccounts:{kubectl.namespace} system:authenticated]"
    )


def test_a_token_for_some_time_somebody_and_a_secret(kubectl: Kubectl) -> None:
    kubectl.output("create", "secret", "generic", "key")
    uid = kubectl.output("get", "secret", "key", "-o", "jsonpath={.metadata.uid}")

    token = kubectl.output(
        *("create", "token", "default", "--duration=20m", "--audience=a", "--audience=b"),
        *("--bound-object-kind=Secret", "--bound-object-name=key", f"--bound-object-uid={uid}"),
    )

    claims = claims_of(token)
    assert claims["aud"] == ["a", "b"]
    assert claims["exp"] - claims["iat"] == 1200
    assert claims["kubernetes.io"]["secret"] == {"name": "key", "uid": uid}


def test_a_token_ends_with_its_account(kubectl: Kubectl) -> None:
    kubectl.output("create", "sa", "robot")
    token = kubectl.output("create", "token", "robot").strip()
    assert whoami(kubectl, token)
    kubectl.output("delete", "sa", "robot")

    result = kubectl("auth", "whoami", f"--token={token}")

    assert result.code == 1
    assert "You must be logged in to the server" in result.stderr


@one_version
def test_tokens_that_cannot_be_made(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl create token nobody
        error: failed to create token: serviceaccounts "nobody" not found
        (exit 1)
        $ kubectl create token default --duration=5m
        error: failed to create token: TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 300: may not specify a duration less than 10 minutes
        (exit 1)
        $ kubectl create token default --bound-object-kind=Secret --bound-object-name=none
        error: failed to create token: secrets "none" not found
        (exit 1)
        $ kubectl create token default --bound-object-kind=Pod --bound-object-name=web
        error: failed to create token: cannot bind token to object of type /v1, Kind=Pod
        (exit 1)
    """)  # noqa: E501


@pytest.fixture
def mounted(kubectl: Kubectl, tmp_path: Path) -> Path:
    """What a pod has in its file system, made with kubectl."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text(kubectl.output("create", "token", "default"))
    (folder / "namespace").write_text(kubectl.namespace)
    certificates = kubectl.output(
        "get", "cm", "kube-root-ca.crt", "-o", r"jsonpath={.data.ca\.crt}"
    )
    (folder / "ca.crt").write_text(certificates)
    return folder


@one_version
def test_our_client_finds_the_server_as_in_a_pod(kubectl: Kubectl, mounted: Path) -> None:
    port = str(kubectl.server.port)
    variables = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
    scheme = Scheme()
    add_to_scheme(scheme)

    config = Config.in_cluster(environ=variables, service_account=mounted)
    with Client(config, scheme=scheme) as client:
        review = client.of(v1.SelfSubjectReview).create({})

    assert config.namespace == kubectl.namespace
    assert review.status.user_info.username == (
        f"system:serviceaccount:{kubectl.namespace}:default"
    )
