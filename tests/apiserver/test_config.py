"""Where settings come from, which source wins, and how mistakes are told."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.config import SETTINGS, ServerConfig, ServerConfigError, load_config
from apiserver.process.address import Address, InvalidAddress, parse_address


def problems(environ: dict[str, str], flags: dict[str, object] | None = None) -> tuple[str, ...]:
    with pytest.raises(ServerConfigError) as caught:
        load_config(environ, flags)
    return caught.value.problems


def test_every_field_is_a_setting_and_every_setting_a_field() -> None:
    assert [s.name for s in SETTINGS] == [f.name for f in dataclasses.fields(ServerConfig)]


def test_nothing_given_serves_tls_on_loopback_from_an_sqlite_file() -> None:
    config = load_config({})

    assert config.server_url == "https://127.0.0.1:6443"
    assert config.storage_url == f"sqlite:///{Path.cwd()}/.apiserver/store.sqlite"


def test_a_flag_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("workers: 2\nlog-level: error\nbind: '127.0.0.1:1'\n")

    config = load_config(
        {"APISERVER_CONFIG": str(file), "APISERVER_WORKERS": "3", "APISERVER_LOG_LEVEL": "debug"},
        {"workers": "4"},
    )

    assert (config.workers, config.log_level, config.bind.port) == (4, "debug", 1)


def test_a_toml_file_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('workers = 2\ninsecure_http = true\ngroups = ["a:A", "b:B"]\n')

    config = load_config({}, {"config": str(file)})

    assert (config.workers, config.insecure_http, config.groups) == (2, True, ("a:A", "b:B"))


def test_a_list_in_the_environment_has_commas() -> None:
    assert load_config({"APISERVER_GROUPS": "a:A, b:B,"}).groups == ("a:A", "b:B")


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("WORKERS", "many", "must be an integer from 1 to 1024"),
        ("WORKERS", "0", "must be an integer from 1 to 1024"),
        ("WORKERS", "٣", "must be an integer from 1 to 1024"),
        ("BIND", "6443", "must be HOST:PORT"),
        ("BIND", "::1:6443", "an IPv6 address must be in brackets"),
        ("BIND", "[a:b]:6443", "only an IPv6 address"),
        ("BIND", "https://a:6443", "must be HOST:PORT"),
        ("BIND", "127.0.0.1:65536", "a port from 0 to 65535"),
        ("INSECURE_HTTP", "maybe", "must be true or false"),
        ("LOG_FORMAT", "xml", "must be one of text, json"),
        ("TOKEN_AUTH_FILE", "/no/such/file", "file does not exist"),
        ("DATA_DIR", __file__, "is not a folder"),
        ("ACCEPT_FIELD_LOSS", "spec.color", "expected RESOURCE.GROUP/FIELD"),
    ],
)
def test_a_mistake_names_the_setting_the_value_and_the_rule(
    name: str, value: str, rule: str
) -> None:
    (problem,) = problems({f"APISERVER_{name}": value})

    assert problem.startswith(f"APISERVER_{name}: {value!r}: ")
    assert rule in problem


def test_all_mistakes_are_told_at_once_under_their_own_names(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("workers: no\ncolour: blue\n")

    told = problems(
        {"APISERVER_CONFIG": str(file), "APISERVER_LOG_LEVEL": "loud", "APISERVER_TYPO": "1"},
        {"bind": "nowhere"},
    )

    starts = [problem.split(": ")[:2] for problem in told]
    assert [str(file), "colour"] in starts
    assert [str(file), "workers"] in starts
    assert ["APISERVER_LOG_LEVEL", "'loud'"] in starts
    assert any(problem.startswith("APISERVER_TYPO: unknown setting") for problem in told)
    assert any(problem.startswith("--bind: 'nowhere': ") for problem in told)
    assert len(told) == 5


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yaml", "workers: [", "yaml"),
        ("a.yaml", "- workers", "must be a mapping of setting names to values"),
        ("a.yaml", "workers: 1\nworkers: 2", "workers is given twice"),
        ("a.toml", "workers = ", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_understood_is_told_so(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    file = tmp_path / name
    file.write_text(text)

    (problem,) = problems({"APISERVER_CONFIG": str(file)})

    assert problem.startswith(f"{file}: ")
    assert why in problem


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    (problem,) = problems({}, {"config": str(tmp_path / "none.yaml")})

    assert problem.endswith("cannot be read: No such file or directory")


@pytest.mark.parametrize("address", ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "example.org:80"])
def test_plain_http_is_refused_where_others_could_listen(address: str) -> None:
    (problem,) = problems({"APISERVER_BIND": address, "APISERVER_INSECURE_HTTP": "true"})

    assert problem.startswith(f"--insecure-http: --bind {address} is reachable")


@pytest.mark.parametrize("address", ["127.0.0.1:80", "[::1]:80", "localhost:80", "127.9.9.9:80"])
def test_plain_http_is_served_on_loopback(address: str) -> None:
    config = load_config({"APISERVER_BIND": address, "APISERVER_INSECURE_HTTP": "1"})

    assert config.server_url == f"http://{address}"


def test_a_certificate_needs_its_key() -> None:
    assert problems({"APISERVER_TLS_CERT_FILE": __file__}) == (
        "--tls-cert-file and --tls-private-key-file: give both or neither",
    )


def test_variables_that_kubernetes_sets_for_a_service_are_not_settings() -> None:
    load_config({"APISERVER_SERVICE_HOST": "10.0.0.1", "APISERVER_PORT_443_TCP": "tcp://x"})


def test_a_server_on_every_address_is_reached_by_loopback() -> None:
    assert load_config({"APISERVER_BIND": "0.0.0.0:1"}).server_url == "https://127.0.0.1:1"
    assert load_config({"APISERVER_BIND": "[::]:1"}).server_url == "https://[::1]:1"


def test_a_folder_with_unusual_letters_makes_a_url_that_leads_back(tmp_path: Path) -> None:
    config = load_config({"APISERVER_DATA_DIR": str(tmp_path / "a ?#%b")})

    assert config.storage_url == f"sqlite:///{tmp_path}/a%20%3F%23%25b/store.sqlite"


@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except InvalidAddress:
        return

    assert parse_address(str(address)) == address


@given(st.ip_addresses(), st.integers(0, 65535))
def test_an_address_is_written_as_it_is_read(host: object, port: int) -> None:
    address = Address(str(host), port)

    assert parse_address(str(address)) == address
