"""The worst selectors, headers, parameters, scalars and rules, at the size limits of a request."""

import base64
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson

from apimachinery.meta.options import ListOptions
from apimachinery.meta.query_parameters import load
from apimachinery.names import (
    is_cidr,
    is_config_map_key,
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_ip,
    is_label_value,
    is_port_name,
    is_qualified_name,
)
from apimachinery.scalars.duration import parse_duration
from apimachinery.scalars.intstr import parse_integer
from apimachinery.scalars.quantity import parse_quantity
from apimachinery.scalars.time import parse_time
from apimachinery.selectors import field_selector, label_selector
from apimachinery.selectors.parser import MAX_LENGTH
from apimachinery.serialization.document_size import MAX_BYTES, MAX_VALUES
from apimachinery.serialization.media_types import negotiate, parse_media_type
from apis.authorization.v1 import SubjectAccessReview
from apis.authorization.validation import validate_subject_access_review
from apis.rbac.policy import Policy
from apis.rbac.rules import CompiledRules, TooManyRules, describe
from apis.rbac.v1 import PolicyRule, RoleBinding
from apiserver.storage.continue_tokens import decode_token
from tests.apimachinery.bad_input.large_documents import Case, tolerant

URL = 64 * 1024


def parsing(name: str, parse: Callable[[str], Any], make: Callable[[int], str], items: int) -> Case:
    return Case(name, lambda n: tolerant(parse, make(n)), items)


SELECTOR_CASES = [
    parsing(f"label selector: {name}", label_selector.parse, make, MAX_LENGTH // size)
    for name, make, size in (
        ("requirements", lambda n: ",".join(["a=b"] * n), 4),
        ("a set", lambda n: f"a in ({','.join(map(str, range(n)))})", 6),
        ("absent keys", lambda n: ",".join(["!a"] * n), 3),
        ("spaces", lambda n: " " * n + "!", 1),
        ("a number", lambda n: "a>" + "0" * n + "x", 1),
        ("a key", lambda n: "a." * n + "!", 2),
    )
] + [
    parsing(f"field selector: {name}", field_selector.parse, make, MAX_LENGTH // size)
    for name, make, size in (
        ("requirements", lambda n: ",".join(["a=b"] * n), 4),
        ("escapes", lambda n: "a=" + "\\\\" * n, 2),
        ("no operator", lambda n: "a" * n, 1),
    )
]


def _decode_token(token: str) -> Any:
    return decode_token(token, prefix="/registry/")


def _token(**members: Any) -> str:
    return _encode(orjson.dumps({"v": "meta.k8s.io/v1", "rv": 1, **members}))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def accept(header: str) -> Any:
    return negotiate(header, ("application/json", "application/yaml"))


HEADER_CASES = [
    parsing("Accept: ranges", accept, lambda n: "a/b;q=0.1," * n, URL // 10),
    parsing("Accept: quotes", accept, lambda n: '";,' * n, URL // 3),
    parsing("Accept: JSON", accept, lambda n: "application/json;as=Table;v=v1;g=x," * n, URL // 35),
    parsing("Content-Type", parse_media_type, lambda n: "a/b" + ";a=b" * n, URL // 4),
    Case(
        "query: a number",
        lambda n: tolerant(load, ListOptions, {"limit": ["0" * n]}),
        URL,
    ),
    parsing("continue token", _decode_token, lambda n: _token(start="x/" * n), URL // 4),
    parsing("continue token: nesting", _decode_token, lambda n: _encode(b"[" * n), URL // 2),
]


NAME_CASES = [
    parsing(f"{check.__name__}: {name}", check, make, MAX_BYTES // 4)
    for check in (
        is_dns1123_label,
        is_dns1123_subdomain,
        is_dns1035_label,
        is_qualified_name,
        is_label_value,
        is_config_map_key,
        is_port_name,
        is_ip,
        is_cidr,
    )
    for name, make in (("letters", lambda n: "a" * n + "!"), ("labels", lambda n: "a-." * n))
] + [
    parsing(f"{check.__name__}: {name} of 8 KiB", check, make, 8190 // 2)
    for check in (is_dns1123_subdomain, is_qualified_name, is_label_value, is_ip)
    for name, make in (
        ("letters", lambda n: "aa" * n + "!"),
        ("dashes", lambda n: "a-" * n),
        ("dots", lambda n: "a." * n + "!"),
        ("colons", lambda n: "::" * n),
    )
]

SCALAR_CASES = [
    parsing(f"{parse.__name__}: {name}", parse, make, MAX_BYTES)
    for parse in (parse_quantity, parse_duration, parse_time, parse_integer)
    for name, make in (
        ("digits", lambda n: "9" * n),
        ("zeros", lambda n: "0" * n + "x"),
        ("fraction", lambda n: "2026-01-01T00:00:00." + "1" * n),
        ("exponent", lambda n: "1e" + "9" * n),
        ("dots", lambda n: "." * n),
    )
]


def _rule(n: int) -> PolicyRule:
    return PolicyRule(
        verbs=["get", "list"], api_groups=[""], resources=[f"r{number}" for number in range(n)]
    )


def _compare_rules(held: list[PolicyRule], required: list[PolicyRule]) -> None:
    with suppress(TooManyRules):
        describe(CompiledRules(held).missing(required))


def _review(n: int) -> SubjectAccessReview:
    spec = {
        "user": "u",
        "resourceAttributes": {
            "labelSelector": {"requirements": [{"key": "?", "operator": "In"}] * n}
        },
        "extra": {f"k{number}": ["v"] for number in range(n)},
    }
    return SubjectAccessReview.model_validate({"spec": spec})


def _validate_review(review: SubjectAccessReview) -> int:
    return sum(1 for _ in validate_subject_access_review(review))


def _binding(n: int) -> RoleBinding:
    subjects = [{"kind": "User", "name": f"u{number}"} for number in range(n)]
    role = {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
    return RoleBinding.model_validate({"subjects": subjects, "roleRef": role})


RULE_CASES = [
    Case(
        "rules: held",
        lambda n: tolerant(_compare_rules, [_rule(n)], [_rule(n)]),
        10_000,
    ),
    Case("rules: missing", lambda n: tolerant(_compare_rules, [], [_rule(n)]), 10_000),
    Case(
        "rules: too many",
        lambda n: tolerant(_compare_rules, [], [_rule(n // 10)] * 10),
        MAX_VALUES,
    ),
    Case(
        "access review",
        lambda n: tolerant(_validate_review, _review(n)),
        MAX_VALUES // 12,
    ),
    Case(
        "binding",
        lambda n: tolerant(Policy().put_binding, _binding(n)),
        MAX_VALUES // 6,
    ),
]

CASES = (*SELECTOR_CASES, *HEADER_CASES, *NAME_CASES, *SCALAR_CASES, *RULE_CASES)
