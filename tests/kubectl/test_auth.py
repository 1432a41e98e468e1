"""kubectl auth, and who may do what."""

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


@one_version
def test_a_wrong_token_is_refused(kubectl: Kubectl) -> None:
    result = kubectl("get", "cm", "--token=wrong")

    assert result.code == 1
    assert "error: You must be logged in to the server" in result.stderr
