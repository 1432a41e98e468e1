"""The first start: what the data folder holds, who may read it, and what stays."""

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apimachinery.certificates import SERVING_LIFETIME, CertificateAuthority
from apimachinery.serialization.yaml import load_yaml
from apiserver.config import ServerConfig
from apiserver.process.address import Address
from apiserver.process.data_dir import DataDir, DataDirError
from apiserver.process.data_folder import issue_client, load_authority, prepare, renew_serving
from apiserver.process.kubeconfig_file import make_kubeconfig

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(data_dir=tmp_path / "data")


def read(path: Path) -> Any:
    return load_yaml(path.read_bytes())[0]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_everything_is_private(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)

    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.path.iterdir()}
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert modes == {0o600}


def test_the_admin_has_address_authority_and_token_in_one_file(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)

    made = read(folder.admin_kubeconfig)
    cluster = made["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == (
        folder.ca_certificate.read_bytes()
    )
    assert made["users"][0]["user"]["token"] == folder.admin_token.read_text().strip()
    assert made["current-context"] == made["contexts"][0]["name"]


def test_a_second_start_changes_nothing(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    before = contents(folder.path)

    prepare(config, now=NOW + timedelta(days=30))

    assert contents(folder.path) == before


def test_another_port_changes_only_the_kubeconfig(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    before = contents(folder.path)

    prepare(replace(config, bind=Address("127.0.0.1", 7443)), now=NOW)

    after = contents(folder.path)
    assert {name for name in after if after[name] != before[name]} == {"admin.kubeconfig"}


def test_another_name_makes_a_new_certificate_of_the_same_authority(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    before = contents(folder.path)

    prepare(replace(config, tls_san=("api.example.io",)), now=NOW)

    after = contents(folder.path)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"serving.crt", "serving.key"}


def test_a_certificate_near_its_end_is_renewed(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    before = folder.serving_certificate.read_bytes()

    renew_serving(config, now=NOW + timedelta(days=1))
    assert folder.serving_certificate.read_bytes() == before

    renew_serving(config, now=NOW + SERVING_LIFETIME)
    assert folder.serving_certificate.read_bytes() != before


def test_many_at_once_make_one_authority_and_one_token(config: ServerConfig) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: prepare(config, now=NOW), range(8)))

    folder = DataDir(config.data_dir)
    made = read(folder.admin_kubeconfig)
    assert made["users"][0]["user"]["token"] == folder.admin_token.read_text().strip()
    assert not [path for path in folder.path.iterdir() if path.name.startswith(".")]


def test_a_start_that_died_half_way_is_finished(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    folder.serving_certificate.unlink()
    folder.admin_token.unlink()

    prepare(config, now=NOW)

    assert read(folder.admin_kubeconfig)["users"][0]["user"]["token"] == (
        folder.admin_token.read_text().strip()
    )


def test_an_authority_without_its_key_is_not_replaced_silently(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)
    folder.ca_key.unlink()

    with pytest.raises(DataDirError, match=r"ca\.key: is missing"):
        prepare(config, now=NOW)


def test_an_authority_that_expired_is_told(config: ServerConfig) -> None:
    prepare(config, now=NOW)

    with pytest.raises(DataDirError, match="expired on 2039-12-30"):
        prepare(config, now=NOW + timedelta(days=3651))


@pytest.mark.parametrize("name", ["ca.key", "ca.crt", "admin.token"])
def test_a_damaged_file_is_named(config: ServerConfig, name: str) -> None:
    folder = prepare(config, now=NOW)
    (folder.path / name).write_bytes(b"\xff")

    with pytest.raises(DataDirError, match=name):
        prepare(config, now=NOW)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(DataDirError, match="Not a directory"):
        prepare(ServerConfig(data_dir=tmp_path / "file" / "data"), now=NOW)


def test_plain_http_has_no_authority_in_its_kubeconfig(config: ServerConfig) -> None:
    folder = prepare(replace(config, insecure_http=True), now=NOW)

    assert read(folder.admin_kubeconfig)["clusters"][0]["cluster"] == {
        "server": "http://127.0.0.1:6443"
    }


def test_further_client_authorities_stand_beside_our_own(
    config: ServerConfig, tmp_path: Path
) -> None:
    other = CertificateAuthority.create(now=NOW).pair.certificate
    (tmp_path / "other.crt").write_bytes(other)

    folder = prepare(replace(config, client_ca_file=tmp_path / "other.crt"), now=NOW)

    assert folder.client_authorities.read_bytes() == folder.ca_certificate.read_bytes() + other


def test_a_client_authority_that_has_expired_is_left_out(
    config: ServerConfig, tmp_path: Path
) -> None:
    old, new = (CertificateAuthority.create(now=NOW - timedelta(days)).pair for days in (3651, 0))
    (tmp_path / "others.crt").write_bytes(old.certificate + new.certificate)

    folder = prepare(replace(config, client_ca_file=tmp_path / "others.crt"), now=NOW)

    own = folder.ca_certificate.read_bytes()
    assert folder.client_authorities.read_bytes() == own + new.certificate


def test_a_user_gets_a_certificate_of_the_folders_authority(config: ServerConfig) -> None:
    folder = prepare(config, now=NOW)

    pair = issue_client(config, "ann", ("a",), now=NOW, lifetime=timedelta(hours=1))

    made = load_yaml(make_kubeconfig("https://x", "ann", ca=b"CA", client=pair))[0]
    user = made["users"][0]["user"]
    assert base64.b64decode(user["client-certificate-data"]) == pair.certificate
    assert base64.b64decode(user["client-key-data"]) == pair.key
    assert load_authority(folder).pair.certificate == folder.ca_certificate.read_bytes()
