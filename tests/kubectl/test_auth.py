"""kubectl auth, and who may do what."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from apiserver.auth.user_tokens import issue_token, signing_key
from apiserver.config import ServerConfig
from apiserver.process.data_folder import issue_client
from apiserver.process.kubeconfig_file import make_kubeconfig
from tests.kubectl.runner import Kubectl, one_version


def test_the_admin_may_do_everything(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl auth can-i create gadgets
        yes
        $ kubectl auth can-i get /metrics
        yes
    """)


@one_version
def test_somebody_without_a_role_may_do_nothing(kubectl: Kubectl) -> None:
    kubectl.replays("""
        $ kubectl auth can-i create gadgets --as=nobody
        no
        (exit 1)
        $ kubectl get gadgets --as=nobody
        Error from server (Forbidden): gadgets.gadgets.example.io is forbidden: User "nobody" cannot list resource "gadgets" in API group "gadgets.example.io" in the namespace "NAMESPACE"
        (exit 1)
    """)  # noqa: E501


@one_version
def test_rules_are_listed(kubectl: Kubectl) -> None:
    shown = [line.split() for line in kubectl.output("auth", "can-i", "--list").splitlines()]

    assert shown[0] == ["Resources", "Non-Resource", "URLs", "Resource", "Names", "Verbs"]
    assert ["*.*", "[]", "[]", "[*]"] in shown
    assert ["[/healthz]", "[]", "[get]"] in shown


def test_whoami(kubectl: Kubectl) -> None:
    shown = [line.split(maxsplit=1) for line in kubectl.output("auth", "whoami").splitlines()]

    assert shown[:3] == [
        ["ATTRIBUTE", "VALUE"],
        ["Username", "admin"],
        ["Groups", "[system:masters system:authenticated]"],
    ]


def test_a_user_is_let_in_by_a_token_until_it_ends(kubectl: Kubectl) -> None:
    key, now = signing_key(kubectl.server.token), datetime.now(UTC)
    good = issue_token(key, "jane", ("builders",), expires=now + timedelta(hours=1))
    ended = issue_token(key, "jane", ("builders",), expires=now - timedelta(seconds=1))

    shown = kubectl.output("auth", "whoami", f"--token={good}").splitlines()
    refused = kubectl("get", "gadgets", f"--token={ended}")

    assert [line.split(maxsplit=1) for line in shown[1:3]] == [
        ["Username", "jane"],
        ["Groups", "[builders system:authenticated]"],
    ]
    assert (refused.code, refused.stdout, refused.stderr) == (
        1,
        "",
        "error: You must be logged in to the server (Unauthorized)\n",
    )


def test_a_certificate_that_has_ended_is_refused_by_the_server_and_not_by_tls(
    kubectl: Kubectl,
) -> None:
    def kubeconfig(issued: datetime) -> Path:
        config, lifetime = ServerConfig(data_dir=kubectl.server.data_dir), timedelta(hours=1)
        pair = issue_client(config, "jane", ("builders",), now=issued, lifetime=lifetime)
        ca = kubectl.server.ca_certificate.read_bytes()
        made = make_kubeconfig(kubectl.server.url, "jane", ca=ca, client=pair)
        return kubectl.write("jane.kubeconfig", made.decode())

    now = datetime.now(UTC)
    let_in = kubectl("auth", "whoami", "--kubeconfig", str(kubeconfig(now)))
    old = kubeconfig(now - timedelta(days=1))
    refused = kubectl("get", "gadgets", "--kubeconfig", str(old))

    assert let_in.code == 0
    assert "jane" in let_in.stdout
    assert (refused.code, refused.stderr) == (
        1,
        "error: You must be logged in to the server (Unauthorized)\n",
    )


@one_version
def test_a_wrong_token_is_refused(kubectl: Kubectl) -> None:
    result = kubectl("get", "cm", "--token=wrong")

    assert result.code == 1
    assert "error: You must be logged in to the server" in result.stderr
