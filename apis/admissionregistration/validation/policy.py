"""Validation of the parts that validating and mutating policies share."""

import re
from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_label_selector
from apimachinery.names import is_dns1035_label, is_dns1123_subdomain, is_path_segment_name
from apis.admissionregistration.v1 import ParamKind, ParamRef, Variable
from apis.admissionregistration.v1.policy_parameters import ALLOW, DENY_MISSING
from apis.admissionregistration.validation.expressions import Expressions
from apis.admissionregistration.validation.rules import FAILURE_POLICIES

_IDENTIFIER: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    )
)


def validate_failure_policy(policy: str | None, path: Path) -> FieldErrors:
    if policy is None:
        yield required(path)
    elif policy not in FAILURE_POLICIES:
        yield not_supported(path, policy, FAILURE_POLICIES)


def validate_param_kind(kind: ParamKind, path: Path) -> FieldErrors:
    if not kind.api_version:
        yield required(path.child("apiVersion"))
    else:
        yield from _validate_api_version(kind.api_version, path.child("apiVersion"))
    if not kind.kind:
        yield required(path.child("kind"))
    elif problems := is_dns1035_label(kind.kind.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        yield invalid(path.child("kind"), kind.kind, detail)


def validate_variables(
    variables: Sequence[Variable], expressions: Expressions, path: Path
) -> FieldErrors:
    """Validate variables in their order, and add them to *expressions*."""
    for position, variable in enumerate(variables):
        here, name = path.index(position), variable.name
        if not name.strip():
            yield required(here.child("name"), "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            yield invalid(here.child("name"), name, "must be a valid CEL identifier")
        if not variable.expression.strip():
            yield required(here.child("expression"), "expression is not specified")
        else:
            yield from expressions.add_variable(name, variable.expression, here.child("expression"))


def validate_policy_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    for problem in dns_subdomain_name(name, False):
        yield invalid(path, name, problem)


def validate_param_ref(reference: ParamRef | None, path: Path) -> FieldErrors:
    if reference is None:
        return
    name, selector = reference.name, reference.selector
    exclusive = "name and selector are mutually exclusive"
    for problem in is_path_segment_name(name) if name else ():
        yield invalid(path.child("name"), name, problem)
    if name and selector is not None:
        yield forbidden(path.child("name"), exclusive)
    yield from validate_label_selector(selector, path.child("selector"))
    if name and selector is not None:
        yield forbidden(path.child("selector"), exclusive)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    action, here = reference.parameter_not_found_action, path.child("parameterNotFoundAction")
    if not action:
        yield required(here)
    elif action not in (ALLOW, DENY_MISSING):
        yield not_supported(here, action, (DENY_MISSING, ALLOW))


def _validate_api_version(text: str, path: Path) -> FieldErrors:
    if text.count("/") > 1:
        yield invalid(path, text, f"unexpected GroupVersion string: {text}")
        return
    group, _, version = text.rpartition("/")
    if group and (problems := is_dns1123_subdomain(group)):
        yield invalid(path, group, ",".join(problems))
    if not version:
        yield invalid(path, text, "version must be specified")
    elif problems := is_dns1035_label(version):
        yield invalid(path, version, ",".join(problems))
