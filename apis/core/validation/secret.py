"""Validation of Secrets: keys, total size, and the keys that the type requires."""

import json
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, required, too_long
from apimachinery.meta.metadata_validation import validate_immutable
from apimachinery.serialization.go_json import syntax_error
from apis.core.v1 import secret as types
from apis.core.v1.secret import Secret
from apis.core.validation.config_map import (
    DATA_MAX,
    size_of,
    validate_data_key,
    validate_frozen,
)

SERVICE_ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"

_DATA: Final = Path("data")


def validate_secret(secret: Secret) -> FieldErrors:
    for key in sorted(secret.data):
        yield from validate_data_key(key, _DATA)
    if size_of(secret.data.values()) > DATA_MAX:
        yield too_long(_DATA, DATA_MAX)
        return
    yield from _validate_type(secret)


def validate_secret_update(new: Secret, old: Secret) -> FieldErrors:
    yield from validate_immutable(new.type, old.type, Path("type"))
    if old.immutable:
        yield from validate_frozen(new.immutable, {"data": (new.data, old.data)})
    yield from validate_secret(new)


def _validate_type(secret: Secret) -> FieldErrors:
    match secret.type:
        case types.SERVICE_ACCOUNT_TOKEN:
            if not secret.metadata.annotations.get(SERVICE_ACCOUNT_NAME):
                yield required(Path("metadata", "annotations").key(SERVICE_ACCOUNT_NAME))
        case types.DOCKERCFG:
            yield from _validate_json(secret, ".dockercfg")
        case types.DOCKER_CONFIG_JSON:
            yield from _validate_json(secret, ".dockerconfigjson")
        case types.BASIC_AUTH:
            if not secret.data.keys() & {"username", "password"}:
                yield from _validate_keys(secret, "username", "password")
        case types.SSH_AUTH:
            if not secret.data.get("ssh-privatekey"):
                yield required(_DATA.key("ssh-privatekey"))
        case types.TLS:
            yield from _validate_keys(secret, "tls.crt", "tls.key")


def _validate_keys(secret: Secret, *keys: str) -> FieldErrors:
    for key in keys:
        if key not in secret.data:
            yield required(_DATA.key(key))


def _validate_json(secret: Secret, key: str) -> FieldErrors:
    if key not in secret.data:
        yield required(_DATA.key(key))
    elif problem := _json_problem(secret.data[key]):
        # Error messages must not contain secret data.
        yield invalid(_DATA.key(key), "<secret contents redacted>", problem)


def _json_problem(data: bytes) -> str:
    if not data.strip():
        return "unexpected end of JSON input"
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return syntax_error(data) or "invalid JSON"
    if value is None or isinstance(value, dict):
        return ""
    return f"json: cannot unmarshal {_kind(value)} into Go value of type map[string]interface {{}}"


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "number"
