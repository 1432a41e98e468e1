"""kubeconfig files: where they are loaded from, how they merge, how entries are interpreted."""

import base64
import contextlib
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.serialization.yaml_writer import dump_yaml
from client import Config, ConfigError
from client.auth.credentials import ClientIdentity, bearer_header
from client.auth.kubeconfig import Kubeconfig

Write = Callable[..., Path]


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def kubeconfig(
    cluster: dict[str, Any] | None = None,
    user: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    name: str = "c",
    current: str = "c",
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "clusters": [{"name": name, "cluster": cluster or {"server": "https://host:6443"}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, **(context or {})}}],
        "preferences": {},
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(document: Any, name: str = "config") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dump_yaml(document))
        return path

    return written


def loaded(document: dict[str, Any], folder: Path = Path("/nowhere"), **choice: str) -> Config:
    parsed = Kubeconfig.parse(dump_yaml(document), folder=folder)
    return Config.from_kubeconfig(parsed, **choice)


def test_a_context_names_server_user_and_namespace() -> None:
    config = loaded(kubeconfig(user={"token": "t"}, context={"namespace": "ns"}))

    assert config.server == "https://host:6443"
    assert config.auth.token == "t"
    assert config.namespace == "ns"


def test_without_a_namespace_it_is_default() -> None:
    assert loaded(kubeconfig()).namespace == "default"


def test_files_of_the_list_merge_and_the_first_value_wins(write: Write) -> None:
    first = write(
        kubeconfig({"server": "https://first"}, {"token": "one"}, {"namespace": "n1"}, current=""),
        "a/one",
    )
    second = kubeconfig(
        {"server": "https://second", "tls-server-name": "x"},
        {"token": "two"},
        {"namespace": "n2"},
        current="d",
    )
    second["clusters"].append({"name": "d", "cluster": {"server": "https://other"}})
    second["contexts"].append({"name": "d", "context": {"cluster": "d"}})
    third = write(kubeconfig(current="c"), "b/three")
    listed = os.pathsep.join(
        [str(first), "/does/not/exist", "", str(write(second, "b/two")), str(third)]
    )

    current = Config.from_env(environ={"KUBECONFIG": listed})
    chosen = Config.from_env(environ={"KUBECONFIG": listed}, context="c")

    assert current.server == "https://other"
    assert (chosen.server, chosen.auth.token, chosen.namespace) == ("https://first", "one", "n1")
    assert chosen.tls.server_name == ""  # the first file's entry wins as a whole


def test_a_file_that_is_asked_for_is_the_only_one(write: Write) -> None:
    path = write(kubeconfig({"server": "https://asked"}), "asked")
    other = write(kubeconfig({"server": "https://environment"}), "other")

    config = Config.from_env(kubeconfig=path, environ={"KUBECONFIG": str(other)})

    assert config.server == "https://asked"
    with pytest.raises(ConfigError, match="error loading config file"):
        Config.from_env(kubeconfig="/does/not/exist", environ={})


def test_the_environment_comes_before_the_pod_and_the_pod_before_the_home(
    write: Write, tmp_path: Path
) -> None:
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("pod-token")
    (account / "namespace").write_text("pod-ns\n")
    write(kubeconfig({"server": "https://home"}), "home/.kube/config")
    environment = write(kubeconfig({"server": "https://environment"}), "environment")
    home = {"HOME": str(tmp_path / "home")}
    pod = {**home, "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    both = {**pod, "KUBECONFIG": str(environment)}

    configs = [
        Config.from_env(environ=variables, service_account=account)
        for variables in (home, pod, both)
    ]

    assert [config.server for config in configs] == [
        "https://home",
        "https://10.0.0.1:443",
        "https://environment",
    ]
    assert configs[1].namespace == "pod-ns"


def test_without_a_variable_the_home_is_that_of_the_user(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(kubeconfig({"server": "https://home"}), ".kube/config")
    monkeypatch.delenv("HOME", raising=False)
    entry = pwd.getpwuid(os.getuid())
    there = pwd.struct_passwd((*entry[:5], str(tmp_path), entry[6]))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: there)

    config = Config.from_env(environ={}, service_account=tmp_path)

    assert config.server == "https://home"


def test_a_pod_may_have_an_ipv6_server(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "ca.crt").write_bytes(b"PEM")
    variables = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}

    config = Config.in_cluster(environ=variables, service_account=tmp_path)

    assert config.server == "https://[fd00::1]:443"
    assert config.tls.ca == b"PEM"
    assert config.auth.token_file == str(tmp_path / "token")


def test_outside_of_a_pod_there_is_no_cluster_to_be_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unable to load in-cluster configuration"):
        Config.in_cluster(environ={}, service_account=tmp_path)


def test_nothing_anywhere_is_said_to_be_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="no configuration has been provided, try setting KUBECONFIG"
    ):
        Config.from_env(environ={"HOME": str(tmp_path)}, service_account=tmp_path)


def test_relative_files_belong_to_the_file_that_names_them(write: Write, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "ca.pem").write_bytes(b"CA")
    (tmp_path / "deep" / "cert.pem").write_bytes(b"CERT")
    (tmp_path / "deep" / "key.pem").write_bytes(b"KEY")
    user = {
        "client-certificate": "cert.pem",
        "client-key": "key.pem",
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "./bin/plugin",
            "interactiveMode": "Never",
        },
    }
    cluster = {"server": "https://host", "certificate-authority": "ca.pem"}

    config = Config.from_kubeconfig(write(kubeconfig(cluster, user), "deep/config"))

    assert config.tls.ca == b"CA"
    assert config.auth.certificate is not None
    assert (config.auth.certificate.certificate, config.auth.certificate.key) == (b"CERT", b"KEY")
    assert config.auth.exec is not None
    assert config.auth.exec.command == str(tmp_path / "deep" / "bin" / "plugin")


def test_a_command_without_a_path_is_looked_up() -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws"}}

    config = loaded(kubeconfig(user=user))

    assert config.auth.exec is not None
    assert config.auth.exec.command == "aws"
    assert config.auth.exec.interactive_mode == "IfAvailable"


def test_inline_data_is_base64() -> None:
    cluster = {"server": "https://h", "certificate-authority-data": b64("CA")}
    user = {"client-certificate-data": b64("CERT"), "client-key-data": b64("KEY")}

    config = loaded(kubeconfig(cluster, user))

    assert config.tls.ca == b"CA"
    assert config.auth.certificate is not None
    assert config.auth.certificate.key == b"KEY"


def test_every_field_of_a_cluster_and_a_user_has_its_meaning() -> None:
    cluster = {
        "server": "https://h/prefix/",
        "insecure-skip-tls-verify": True,
        "tls-server-name": "name",
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
    }
    user = {
        "username": "u",
        "password": "p",
        "as": "admin",
        "as-uid": "7",
        "as-groups": ["g", "h"],
        "as-user-extra": {"example.com/Reason": ["x"]},
    }

    config = loaded(kubeconfig(cluster, user))

    assert config.server == "https://h/prefix"
    assert (config.tls.insecure, config.tls.server_name) == (True, "name")
    assert (config.proxy_url, config.disable_compression) == ("http://proxy:3128", True)
    assert (config.auth.username, config.auth.password) == ("u", "p")
    assert config.impersonate.headers() == (
        ("Impersonate-User", "admin"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "g"),
        ("Impersonate-Group", "h"),
        ("Impersonate-Extra-example.com%2FReason", "x"),
    )


def test_context_cluster_user_and_namespace_can_be_chosen() -> None:
    document = kubeconfig()
    document["clusters"].append({"name": "d", "cluster": {"server": "https://d"}})
    document["users"].append({"name": "e", "user": {"token": "e"}})
    document["contexts"].append({"name": "f", "context": {"cluster": "c", "user": "c"}})

    config = loaded(document, context="f", cluster="d", user="e", namespace="n")

    assert (config.server, config.auth.token, config.namespace) == ("https://d", "e", "n")


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "interactiveMode": "Never"}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (kubeconfig(current="x"), "context was not found for specified context: x"),
        (kubeconfig(current=""), "current-context is not set; contexts: c"),
        (kubeconfig({"server": ""}), 'no server found for cluster "c"'),
        (kubeconfig(context={"cluster": "z"}), 'cluster "z" was not found for context "c"'),
        (kubeconfig(context={"user": "z"}), 'user "z" was not found for context "c"'),
        (
            kubeconfig(
                {
                    "server": "https://h",
                    "certificate-authority": "a",
                    "certificate-authority-data": "Yg==",
                }
            ),
            "certificate-authority-data and certificate-authority are both specified for c",
        ),
        (
            kubeconfig(user={"token": "t", "username": "u"}),
            "more than one authentication method found for c; found [token basicAuth]",
        ),
        (
            kubeconfig(user={"client-certificate-data": "Yg=="}),
            "client-key-data or client-key must be specified for c",
        ),
        (
            kubeconfig(user={"as-groups": ["g"]}),
            "requesting uid, groups or user-extra for c without impersonating a user",
        ),
        (
            kubeconfig(user={"exec": {}}),
            "invalid configuration: [command must be specified for c to use exec authentication"
            " plugin, apiVersion must be specified for c to use exec authentication plugin]",
        ),
        (
            kubeconfig(user={"exec": {**EXEC, "interactiveMode": ""}}),
            "interactiveMode must be specified for c to use exec authentication plugin",
        ),
        (
            kubeconfig(user={"exec": {**EXEC, "interactiveMode": "Maybe"}}),
            'invalid interactiveMode for c: "Maybe"',
        ),
        (
            kubeconfig(user={"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v9"}}),
            'exec plugin: invalid apiVersion "client.authentication.k8s.io/v9"',
        ),
        (
            kubeconfig(user={"exec": {**EXEC, "env": [{"value": "x"}]}}),
            "env variable name must be specified for c to use exec authentication plugin",
        ),
        (
            kubeconfig(user={"auth-provider": {"name": "gcp"}}),
            'no Auth Provider found for name "gcp"',
        ),
        (
            kubeconfig({"server": "https://h", "certificate-authority": "missing.pem"}),
            "unable to read certificate-authority /nowhere/missing.pem for c due to No such file",
        ),
        (
            kubeconfig({"server": "https://h", "certificate-authority-data": "%"}),
            "c: certificate-authority-data: not base64",
        ),
        (
            kubeconfig(
                {
                    "server": "https://h",
                    "certificate-authority-data": "Yg==",
                    "insecure-skip-tls-verify": True,
                }
            ),
            "specifying a root certificates file with the insecure flag is not allowed",
        ),
        (kubeconfig({"server": "ftp://h"}), "host must be a URL or a host:port pair"),
        (kubeconfig({"server": "https://h:port"}), "host must be a URL or a host:port pair"),
        (
            kubeconfig({"server": "https://h", "proxy-url": "socks4://p"}),
            "invalid proxy-url 'socks4://p': must be a URL with http, https, socks5 or socks5h",
        ),
        (kubeconfig({"server": 7}), "c: server: must be a string"),
        (kubeconfig(user={"as-groups": "g"}), "c: as-groups: must be a list of strings"),
    ],
)
def test_what_is_wrong_is_said_in_kubectls_words(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(document)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "clusters: 5",
        "clusters: [5]",
        "clusters: [{name: a, cluster: 5}]",
        "clusters: [{name: a}, {name: a}]",
        "kind: Pod",
        "current-context: [x]",
        "{",
    ],
)
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="error loading config file"):
        Kubeconfig.parse(text.encode(), folder=Path())


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "cluster", "user", "server", "exec", "env", "as", "command"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(VALUES, VALUES, VALUES)
def test_no_document_raises_anything_but_a_config_error(
    cluster: Any, user: Any, context: Any
) -> None:
    document = {
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "c", "user": user}],
        "contexts": [{"name": "c", "context": context}],
    }
    with contextlib.suppress(ConfigError):
        assert loaded(document).server


def test_a_bare_host_gets_the_scheme_its_settings_call_for() -> None:
    plain = loaded(kubeconfig({"server": "host:8080"}))
    secure = loaded(kubeconfig({"server": "host:8080", "insecure-skip-tls-verify": True}))

    assert plain.server == "http://host:8080"
    assert secure.server == "https://host:8080"


async def test_a_token_and_a_file_of_it_may_both_be_given(tmp_path: Path) -> None:
    """The token file takes precedence; the token is used until the file can be read."""
    config = loaded(kubeconfig(user={"token": "inline", "tokenFile": "token"}), folder=tmp_path)
    credentials = config.auth.credentials()

    before = await credentials.identity()
    (tmp_path / "token").write_text("from file\n")
    after = await credentials.renew(before)

    assert before == ClientIdentity(bearer_header("inline"))
    assert after == ClientIdentity(bearer_header("from file"))


def test_secrets_are_not_printed() -> None:
    user = {"token": "s3cret", "client-certificate-data": b64("C"), "client-key-data": b64("K3Y")}

    shown = repr(loaded(kubeconfig(user=user)))

    assert "s3cret" not in shown
    assert "K3Y" not in shown
