"""The `apiserver` command, as people run it."""

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from apimachinery.serialization.yaml import load_yaml
from apiserver.__main__ import main
from apiserver.config import SETTINGS, ServerConfig
from apiserver.evolution.running_servers import RunningServer
from apiserver.process.data_folder import prepare
from apiserver.storage.backends import open_backend

ROOT = Path(__file__).parent.parent.parent
GROUP = """
from apis.gadgets.install import GADGETS
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no settings in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in list(os.environ):
        if name.startswith("APISERVER_"):
            monkeypatch.delenv(name)
    return tmp_path


class Served:
    """A running `apiserver serve`, its output and its answers."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.message: list[str] = []

    @property
    def token(self) -> str:
        return (self.folder / ".apiserver/admin.token").read_text().strip()

    @property
    def url(self) -> str:
        return self.message[0].rpartition(" on ")[2]

    def get(self, path: str, token: str = "") -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(self.url + path, headers=headers)
        context = ssl.create_default_context(cafile=self.folder / ".apiserver/ca.crt")
        try:
            with urllib.request.urlopen(request, context=context, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "apiserver", "serve", "--bind", "127.0.0.1:0", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    served = Served(process, folder)
    try:
        assert process.stdout is not None
        served.message = [process.stdout.readline().strip() for _ in range(2)]
        yield served
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_a_first_start_serves_a_group_to_whoever_has_the_kubeconfig(folder: Path) -> None:
    (folder / "gadgets.py").write_text(GROUP)
    with serving(folder, "gadgets:GADGETS") as served:
        assert served.message[0].startswith(
            "serving gadgets.example.io/v1, gadgets.example.io/v1beta1, v1 (core), "
        )
        assert served.message[1] == "export KUBECONFIG=.apiserver/admin.kubeconfig"
        kubeconfig = load_yaml((folder / ".apiserver/admin.kubeconfig").read_bytes())[0]
        assert kubeconfig["clusters"][0]["cluster"]["server"] == served.url

        assert served.get("/readyz") == (200, b"ok")
        assert served.get("/version")[0] == 200
        assert served.get("/api")[0] == 403
        assert served.get("/api", token="wrong")[0] == 401
        assert served.get("/readyz", token="wrong")[0] == 401
        code, body = served.get("/apis/gadgets.example.io/v1", token=served.token)

        assert code == 200
        assert b'"gadgets"' in body
        assert served.stop() == 0


def test_several_workers_announce_the_start_once(folder: Path) -> None:
    with serving(folder, "--workers", "3") as served:
        assert served.get("/readyz") == (200, b"ok")
        assert served.stop() == 0
        assert served.process.stdout is not None
        rest = served.process.stdout.read()

    assert served.message[0].startswith("serving ")
    assert "serving" not in rest


def test_a_server_that_cannot_answer_announces_nothing(folder: Path) -> None:
    with serving(folder, "--storage", "etcd://127.0.0.1:1?timeout=0.1") as served:
        assert served.process.wait(30) != 0

    assert served.message == ["", ""]


def test_a_restart_after_a_crash_finds_everything_as_it_was(folder: Path) -> None:
    with serving(folder) as served:
        served.get("/readyz")
        first = served.get("/api/v1/namespaces/default", token=served.token)[1]
        token = served.token
        served.process.kill()

    with serving(folder) as served:
        second = served.get("/api/v1/namespaces/default", token=token)[1]

    assert orjson.loads(first) == orjson.loads(second)


def test_a_reload_that_would_fail_is_refused_and_nothing_changes(folder: Path) -> None:
    (folder / "settings.yaml").write_text("log-level: info\n")
    with serving(folder, "--config", "settings.yaml") as served:
        assert served.get("/readyz")[0] == 200
        (folder / "settings.yaml").write_text("log-level: loud\n")
        served.process.send_signal(signal.SIGHUP)

        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            assert served.get("/readyz")[0] == 200
        assert served.process.poll() is None
        assert served.stop() == 0


def test_a_store_that_cannot_be_opened_ends_the_start_with_one_line(folder: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "APISERVER_STORAGE": "nosuch://x"}

    ended = subprocess.run(
        [sys.executable, "-m", "apiserver", "serve", "--bind", "127.0.0.1:0"],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.returncode != 0
    assert "no backend has the scheme 'nosuch'" in ended.stderr
    assert "Traceback" not in ended.stderr


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("group", "why"),
    [
        ("nosuch:X", "there is no module nosuch"),
        ("good", "expected MODULE:GROUP"),
        ("good:NOPE", "module good has no NOPE; the groups in it are GADGETS"),
        ("good:main", "main is of type int, not a Group"),
        ("good:none", "none is an empty tuple, not a Group; the groups in it are GADGETS"),
        ("good:mixed", "mixed is a list with int, not a Group; the groups in it are GADGETS"),
        ("broken:X", "broken.py, line 1"),
        ("failing:X", "importing failing failed: ZeroDivisionError: division by zero"),
        ("lacking:X", "importing lacking failed: ModuleNotFoundError: No module named 'absent'"),
        ("leaving:X", "importing leaving failed: SystemExit: 3"),
    ],
)
def test_a_group_that_cannot_be_loaded_is_explained(
    folder: Path, capsys: pytest.CaptureFixture[str], group: str, why: str
) -> None:
    (folder / "good.py").write_text(GROUP + "main = 1; none = (); mixed = [GADGETS, 1]")
    (folder / "broken.py").write_text("def")
    (folder / "failing.py").write_text("1 / 0")
    (folder / "lacking.py").write_text("import absent")
    (folder / "leaving.py").write_text("raise SystemExit(3)")

    error = told(capsys, "serve", group)

    assert error.startswith(f"apiserver: group '{group}': ")
    assert why in error
    assert error.count("\n") == 1
    assert not (folder / ".apiserver").exists()


def test_a_group_given_twice_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "good.py").write_text(GROUP)

    assert "is given twice" in told(capsys, "serve", "good:GADGETS", "good:GADGETS")


def test_an_address_in_use_is_told_at_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"

        error = told(capsys, "serve", "--bind", address)

    assert error.startswith(f"apiserver: --bind {address}: the address is in use")


@pytest.mark.parametrize("address", ["192.0.2.1:0", "no-such-host.invalid:0"])
def test_an_address_of_another_machine_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert told(capsys, "serve", "--bind", address).startswith(f"apiserver: --bind {address}: ")


def test_a_token_file_with_a_mistake_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "tokens.csv").write_text("t1,ann")

    error = told(capsys, "serve", "--bind", "127.0.0.1:0", "--token-auth-file", "tokens.csv")

    assert error.startswith("apiserver: token file tokens.csv: line 1: ")


def test_certificates_that_do_not_work_are_told(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A certificate with the key of another, and an authority that is none."""
    pair = ("--tls-cert-file", ".apiserver/ca.crt", "--tls-private-key-file")
    (started / "no-ca.pem").write_text("-----BEGIN CERTIFICATE-----\nno\n")

    mismatch = told(capsys, "serve", "--bind", "127.0.0.1:0", *pair, ".apiserver/serving.key")
    no_key = told(capsys, "serve", "--bind", "127.0.0.1:0", *pair, ".apiserver/admin.token")
    no_ca = told(capsys, "serve", "--bind", "127.0.0.1:0", "--client-ca-file", "no-ca.pem")

    assert "ca.crt, .apiserver/serving.key: cannot be used to serve" in mismatch
    assert "cannot be used to serve" in no_key
    assert no_ca.startswith("apiserver: --client-ca-file: contains no certificates")


def test_plain_http_for_everybody_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = told(capsys, "serve", "--insecure-http", "--bind", "0.0.0.0:0")

    assert "--insecure-http: --bind 0.0.0.0:0 is reachable from other machines" in error


def test_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])

    text = capsys.readouterr().out
    assert [s.name for s in SETTINGS if s.flag not in text and s.metavar not in text] == []


def test_a_kubeconfig_needs_a_server_that_has_started(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "`apiserver serve` creates it on the first start" in told(capsys, "kubeconfig")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--user", "ann", "--expires", "soon"], "--expires: 'soon': must be a duration"),
        (["--user", "ann", "--expires", "0s"], "must be positive"),
        (["--user", "a" * 65], "1 to 64 bytes"),
        (["--group", "g"], "--group: only valid with --user"),
        (["--token"], "--token: only valid with --user"),
        (["--expires", "1h"], "--expires: only valid with --user"),
        (["--merge"], "--merge: requires --output"),
        (["--user", "ann", "--insecure-http"], "disables; use --token"),
        (["--merge", "--output", "notes.yaml"], "cannot merge into it: not a kubeconfig"),
        (["--merge", "--output", "broken.yaml"], "cannot merge into it: yaml: line"),
        (["--merge", "--output", "odd.yaml"], "users: must be a list of entries with a name"),
    ],
)
def test_a_kubeconfig_that_makes_no_sense_is_refused(
    started: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    (started / "notes.yaml").write_text("- not a mapping")
    (started / "broken.yaml").write_text("a: [")
    (started / "odd.yaml").write_text("users: {jane: x}")

    assert why in told(capsys, "kubeconfig", *arguments)


def test_a_user_can_have_a_token_and_a_context_of_her_own(started: Path) -> None:
    names = ["--namespace", "shop", "--cluster", "prod", "--context", "work"]

    main(["kubeconfig", "--user", "ann", "--token", *names, "--output", "ann.kubeconfig"])

    made = load_yaml((started / "ann.kubeconfig").read_bytes())[0]
    assert made["users"][0]["user"]["token"].startswith("apiserver.")
    assert made["clusters"][0]["name"] == "prod"
    assert made["contexts"] == [
        {"name": "work", "context": {"cluster": "prod", "user": "ann", "namespace": "shop"}}
    ]
    assert made["current-context"] == "work"


def test_a_kubeconfig_is_added_to_what_a_file_has(started: Path) -> None:
    file = started / "config"
    file.write_text(
        """\
clusters: [{name: other, cluster: {server: https://other}}]
users: [{name: ann, user: {token: secret}}]
contexts: [{name: other, context: {cluster: other, user: ann}}]
current-context: other
preferences: {colors: true}
"""
    )

    for token in ("--token", "--token"):  # the second time replaces what the first has added
        assert main(["kubeconfig", "--user", "ann", token, "--merge", "--output", "config"]) == 0

    made = load_yaml(file.read_bytes())[0]
    assert [one["name"] for one in made["clusters"]] == ["other", "apiserver"]
    assert [one["name"] for one in made["users"]] == ["ann", "ann@apiserver"]
    assert made["users"][0] == {"name": "ann", "user": {"token": "secret"}}
    assert made["contexts"][1]["context"] == {"cluster": "apiserver", "user": "ann@apiserver"}
    assert (made["current-context"], made["preferences"]) == ("ann@apiserver", {"colors": True})
    assert (made["kind"], file.stat().st_mode & 0o777) == ("Config", 0o600)


def test_a_kubeconfig_can_be_added_to_a_file_that_is_not_there(started: Path) -> None:
    assert main(["kubeconfig", "--merge", "--output", "new"]) == 0

    made = load_yaml((started / "new").read_bytes())[0]
    assert made["current-context"] == "admin@apiserver"


def test_a_user_gets_a_kubeconfig_with_a_certificate(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--user", "ann", "--group", "a", "--server", "https://api.example.io"]

    assert main(["kubeconfig", *arguments, "--output", "ann.kubeconfig"]) == 0

    file = started / "ann.kubeconfig"
    made = load_yaml(file.read_bytes())[0]
    assert file.stat().st_mode & 0o777 == 0o600
    assert made["clusters"][0]["cluster"]["server"] == "https://api.example.io"
    assert set(made["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


def test_the_admins_kubeconfig_can_be_written_again(
    started: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kubeconfig"]) == 0

    assert (
        capsys.readouterr().out.encode() == (started / ".apiserver/admin.kubeconfig").read_bytes()
    )


def fill(url: str, count: int, value: bytes) -> None:
    async def write() -> None:
        backend = await open_backend(url)
        for number in range(count):
            await backend.create(f"/registry/core/things/{number:04}", value)
        await backend.close()

    asyncio.run(write())


def stored(url: str) -> dict[str, bytes]:
    async def read() -> dict[str, bytes]:
        backend = await open_backend(url)
        page = await backend.range("/registry/")
        await backend.close()
        return {record.key: record.value for record in page.records}

    return asyncio.run(read())


def test_a_store_is_copied_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("sqlite:///from.db", 1203, b"a")

    assert main(["storage", "copy", "sqlite:///from.db", "sqlite:///to.db"]) == 0

    assert capsys.readouterr().out == "copied 1203 objects\n"
    assert stored("sqlite:///to.db") == stored("sqlite:///from.db")


def test_a_copy_does_not_write_over_objects_unless_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill("sqlite:///from.db", 2, b"new")
    fill("sqlite:///to.db", 1, b"old")
    copy = ("storage", "copy", "sqlite:///from.db", "sqlite:///to.db")

    assert "--overwrite to replace them" in told(capsys, *copy)
    assert set(stored("sqlite:///to.db").values()) == {b"old"}

    assert main([*copy, "--overwrite"]) == 0
    assert list(stored("sqlite:///to.db").values()) == [b"new", b"new"]


def test_a_copy_of_nothing_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = told(capsys, "storage", "copy", "sqlite:///mistyped.db", "sqlite:///to.db")

    assert error == "apiserver: the source has no objects; check its URL\n"


def test_a_store_is_compacted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill("sqlite:///a.db", 3, b"a")

    assert main(["storage", "compact", "sqlite:///a.db"]) == 0

    assert capsys.readouterr().out.startswith("compacted to revision ")


def put(url: str, objects: dict[str, bytes]) -> None:
    async def write() -> None:
        backend = await open_backend(url)
        for key, value in objects.items():
            await backend.create(key, value)
        await backend.close()

    asyncio.run(write())


WIDGET = b'{"kind":"Widget","apiVersion":"example.io/v1","metadata":{}}'
GADGET = b'{"kind":"Gadget","apiVersion":"example.io/__internal","$shape":"abc123","metadata":{}}'
WIDGETS_STORE = "sqlite:///widgets.db"


@pytest.fixture
def widgets(folder: Path) -> Path:
    """A folder with a store that has objects of several resources."""
    widget = "/registry/example.io/widgets/{}/a".format
    put(
        WIDGETS_STORE,
        {
            **{widget(name): WIDGET for name in ("n1", "n2", "n3", "n4", "n5")},
            "/registry/example.io/widgets/n1/b": b"{}",
            "/registry/example.io/gadgets/n1/a": GADGET,
            "/registry/example.io/gadgets/n1/b": GADGET.replace(b"abc123", b"def456"),
            "/registry/example.io/gadgets/n1/c": GADGET.replace(b'"$shape":"abc123",', b""),
            "/registry/core/namespaces/n1": b'{"kind":"Namespace","apiVersion":"__internal"}',
        },
    )
    return folder


def test_a_list_shows_all_that_a_store_has(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["storage", "list", WIDGETS_STORE]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "RESOURCE             OBJECTS   NAMESPACES           STORED AS",
        "namespaces           1         -                    __internal (1)",
        "gadgets.example.io   3         n1                   __internal (1), __internal abc123 (1),"
        " __internal def456 (1)",
        "widgets.example.io   6         n1, n2, n3, 2 more   ? (1), v1 (5)",
        "TOTAL                10",
    ]


def test_a_list_can_be_read_by_a_program(widgets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "list", WIDGETS_STORE, "-o", "json"]) == 0

    listed = orjson.loads(capsys.readouterr().out)
    by_name = {each.pop("resource"): each for each in listed["resources"]}
    assert listed["objects"] == 10
    assert by_name["namespaces"]["namespaces"] == {}
    assert by_name["widgets.example.io"]["namespaces"]["n1"] == 2
    assert by_name["gadgets.example.io"]["forms"][1] == {
        "kind": "Gadget",
        "apiVersion": "example.io/__internal",
        "shape": "abc123",
        "since": "",
        "objects": 1,
    }


def test_a_list_of_nothing_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = told(capsys, "storage", "list", "sqlite:///mistyped.db")

    assert error == "apiserver: the store has no objects; check its URL\n"


def test_leftovers_are_deleted_and_nothing_else(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    delete = ("storage", "delete", WIDGETS_STORE, "widgets.example.io", "--yes")

    assert main([*delete, "--namespace", "n1"]) == 0
    assert main(delete) == 0

    assert capsys.readouterr().out.splitlines() == [
        "deleted 2 objects of widgets.example.io in namespace n1",
        "deleted 4 objects of widgets.example.io",
    ]
    assert {key.split("/")[3] for key in stored(WIDGETS_STORE)} == {"gadgets", "namespaces"}
    assert told(capsys, *delete) == (
        "apiserver: the store has no objects of widgets.example.io;"
        " `apiserver storage list` shows what it has\n"
    )


def test_more_objects_than_a_page_are_deleted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill("sqlite:///a.db", 1203, b"a")

    assert main(["storage", "delete", "sqlite:///a.db", "things", "--yes"]) == 0

    assert capsys.readouterr().out == "deleted 1203 objects of things\n"


@pytest.mark.parametrize(("answer", "code", "left"), [("n", 1, 10), ("", 1, 10), ("y", 0, 4)])
def test_a_deletion_asks_first(
    widgets: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
    left: int,
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: answer)

    assert main(["storage", "delete", WIDGETS_STORE, "widgets.example.io"]) == code

    assert "This deletes 6 objects of widgets.example.io, " in capsys.readouterr().out
    assert len(stored(WIDGETS_STORE)) == left


def test_a_deletion_without_a_terminal_needs_consent(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = told(capsys, "storage", "delete", WIDGETS_STORE, "widgets.example.io")

    assert error.startswith("apiserver: would delete 6 objects of widgets.example.io: use --yes")
    assert len(stored(WIDGETS_STORE)) == 10


def test_objects_that_somebody_serves_are_not_deleted(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    delete = ("storage", "delete", WIDGETS_STORE, "--yes")
    definition = "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.io"
    server = RunningServer("host-1", "7", 8, {"gadgets.example.io": "abc123"})
    put(
        WIDGETS_STORE,
        {server.key: server.to_bytes(), definition: b"{}"},
    )

    running = told(capsys, *delete, "gadgets.example.io", "--force")
    defined = told(capsys, *delete, "widgets.example.io")
    standard = told(capsys, *delete, "namespaces")

    assert "gadgets.example.io is served by process 8 on host-1" in running
    assert "the CustomResourceDefinition widgets.example.io is stored" in defined
    assert "every server serves namespaces" in standard
    assert len(stored(WIDGETS_STORE)) == 11
    assert main([*delete, "widgets.example.io", "--force"]) == 0
    assert len(stored(WIDGETS_STORE)) == 5


@pytest.mark.parametrize("action", ["list", "delete"])
def test_help_of_a_storage_action_has_examples(
    capsys: pytest.CaptureFixture[str], action: str
) -> None:
    with pytest.raises(SystemExit):
        main(["storage", action, "--help"])

    assert f"\n  apiserver storage {action} sqlite:///" in capsys.readouterr().out


def test_a_store_that_is_none_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = told(capsys, "storage", "compact", "nosuch://x")

    assert error.startswith("apiserver: store URL: no backend has the scheme 'nosuch'")


@pytest.fixture
def started(folder: Path) -> Path:
    """A data folder as a first start leaves it."""
    prepare(ServerConfig(), now=datetime.now(UTC))
    return folder
