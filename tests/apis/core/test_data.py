"""ConfigMaps and Secrets: keys, sizes, types, immutability, stringData."""

from typing import Any

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core.strategy import ConfigMapStrategy, SecretStrategy
from apis.core.v1 import ConfigMap, Secret
from tests.apis.validating import decoded, messages

CONFIG_MAPS = ConfigMapStrategy()
SECRETS = SecretStrategy()

KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
    "regex used for validation is '[-._a-zA-Z0-9]+')"
)
FROZEN = "Forbidden: field is immutable when `immutable` is set"
MEBIBYTE = 1024 * 1024


def secret(type: str = "Opaque", **fields: Any) -> Secret:  # noqa: A002
    return Secret(metadata=ObjectMeta(name="s"), type=type, **fields)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (ConfigMap(data={"a.b-C_1": "x"}, binary_data={"c": b"\x00"}), []),
        (ConfigMap(data={"a b": ""}), [f'data[a b]: Invalid value: "a b": {KEY_RULE}']),
        (
            ConfigMap(binary_data={"..": b""}),
            ["binaryData[..]: Invalid value: \"..\": must not be '..'"],
        ),
        (
            ConfigMap(data={"a": ""}, binary_data={"a": b""}),
            ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
        ),
        (ConfigMap(data={"a": "x" * MEBIBYTE}), []),
        (
            ConfigMap(data={"a": "é" * (MEBIBYTE // 2)}, binary_data={"b": b"x"}),
            ["[]: Too long: may not be more than 1048576 bytes"],
        ),
    ],
)
def test_config_maps(config: ConfigMap, expected: list[str]) -> None:
    assert messages(CONFIG_MAPS.validate(config)) == expected


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (ConfigMap(data={"a": "1"}, immutable=True), []),
        (ConfigMap(data={"a": "1"}), [f"immutable: {FROZEN}"]),
        (
            ConfigMap(data={"a": "2"}, binary_data={"b": b""}, immutable=False),
            [f"immutable: {FROZEN}", f"data: {FROZEN}", f"binaryData: {FROZEN}"],
        ),
    ],
)
def test_an_immutable_config_map_stays_as_it_is(new: ConfigMap, expected: list[str]) -> None:
    old = ConfigMap(data={"a": "1"}, immutable=True)

    assert messages(CONFIG_MAPS.validate_update(new, old)) == expected


def test_a_config_map_can_become_immutable() -> None:
    new, old = ConfigMap(data={"a": "2"}, immutable=True), ConfigMap(data={"a": "1"})

    assert messages(CONFIG_MAPS.validate_update(new, old)) == []


def test_string_data_goes_into_data_and_is_gone() -> None:
    found = decoded(
        Secret, {"data": {"a": "b2xk", "b": "b2xk"}, "stringData": {"a": "new", "c": "é"}}
    )

    assert found.data == {"a": b"new", "b": b"old", "c": "é".encode()}
    assert found.string_data == {}
    assert found.type == "Opaque"


def test_string_data_is_merged_for_callers_that_send_no_document() -> None:
    made = secret(string_data={"a": "x"})
    changed = secret(string_data={"b": "y"})

    SECRETS.prepare_for_create(made)
    SECRETS.prepare_for_update(changed, made)

    assert (made.data, made.string_data) == ({"a": b"x"}, {})
    assert (changed.data, changed.string_data) == ({"b": b"y"}, {})


REDACTED = 'Invalid value: "<secret contents redacted>"'


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (secret(data={"a": b""}), []),
        (secret("example.io/own", data={}), []),
        (secret(data={"a/b": b""}), [f'data[a/b]: Invalid value: "a/b": {KEY_RULE}']),
        (
            secret(data={"a": b"x" * MEBIBYTE, "b": b"x"}),
            ["data: Too long: may not be more than 1048576 bytes"],
        ),
        (
            secret("kubernetes.io/tls"),
            ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
        ),
        (secret("kubernetes.io/tls", data={"tls.crt": b"", "tls.key": b""}), []),
        (
            secret("kubernetes.io/basic-auth"),
            ["data[username]: Required value", "data[password]: Required value"],
        ),
        (secret("kubernetes.io/basic-auth", data={"password": b""}), []),
        (
            secret("kubernetes.io/ssh-auth", data={"ssh-privatekey": b""}),
            ["data[ssh-privatekey]: Required value"],
        ),
        (
            secret("kubernetes.io/service-account-token"),
            ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
        ),
        (secret("kubernetes.io/dockercfg"), ["data[.dockercfg]: Required value"]),
        (
            secret("kubernetes.io/dockercfg", data={".dockercfg": b""}),
            [f"data[.dockercfg]: {REDACTED}: unexpected end of JSON input"],
        ),
        (
            secret("kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"{bad"}),
            [
                f"data[.dockerconfigjson]: {REDACTED}: invalid character 'b' looking for beginning"
                " of object key string"
            ],
        ),
        (
            secret("kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"[" * 100_000}),
            [f"data[.dockerconfigjson]: {REDACTED}: unexpected end of JSON input"],
        ),
        (
            secret("kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"[1]"}),
            [
                f"data[.dockerconfigjson]: {REDACTED}: json: cannot unmarshal array into Go value"
                " of type map[string]interface {}"
            ],
        ),
        (secret("kubernetes.io/dockerconfigjson", data={".dockerconfigjson": b"{}"}), []),
    ],
)
def test_secrets(obj: Secret, expected: list[str]) -> None:
    assert messages(SECRETS.validate(obj)) == expected


def test_the_type_of_a_secret_stays() -> None:
    assert messages(SECRETS.validate_update(secret("a"), secret("b"))) == [
        'type: Invalid value: "a": field is immutable'
    ]


def test_an_immutable_secret_stays_as_it_is() -> None:
    new, old = secret(data={"a": b"1"}), secret(immutable=True)

    assert messages(SECRETS.validate_update(new, old)) == [
        f"immutable: {FROZEN}",
        f"data: {FROZEN}",
    ]
