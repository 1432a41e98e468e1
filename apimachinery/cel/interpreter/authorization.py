"""Authorization: `authorizer`, by which an expression asks what a user may do.

Authorizers take their time, and evaluations do not wait. An evaluation that needs an answer it does
not have ends with `Unanswered`; whoever evaluates gets the answer and evaluates again. An
expression can ask twice at most, because a check costs a third of its limit.
"""

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from apimachinery import names
from apimachinery.cel.interpreter.overloads import Overload, overload, traversal
from apimachinery.cel.interpreter.values import CELError, Opaque

_CHECK_COST: Final = 350_000
_REQUIREMENT_COST: Final = 50


@dataclass(frozen=True, slots=True)
class AuthorizationCheck:
    """What an expression asks: whether a user may do something."""

    account: tuple[str, str] = ("", "")
    """Namespace and name of a ServiceAccount; empty for the user of the request."""
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    verb: str = ""
    field_selector: str = ""
    label_selector: str = ""


@dataclass(frozen=True, slots=True)
class AuthorizationAnswer(Opaque):
    """The answer to a check."""

    type_name: ClassVar = "kubernetes.authorization.Decision"

    allowed: bool
    reason: str = ""
    error: str = ""


class Unanswered(Exception):
    """An evaluation needs the answer to a check."""

    def __init__(self, check: AuthorizationCheck) -> None:
        self.check = check


Answers = MutableMapping[AuthorizationCheck, AuthorizationAnswer]


@dataclass(frozen=True, eq=False, slots=True)
class _Asking(Opaque):
    check: AuthorizationCheck
    answers: Answers


class AuthorizerValue(_Asking):
    """The variable `authorizer`."""

    __slots__ = ()
    type_name: ClassVar = "kubernetes.authorization.Authorizer"


class _PathCheck(_Asking):
    __slots__ = ()
    type_name: ClassVar = "kubernetes.authorization.PathCheck"


class _GroupCheck(_Asking):
    __slots__ = ()
    type_name: ClassVar = "kubernetes.authorization.GroupCheck"


class ResourceCheck(_Asking):
    """The variable `authorizer.requestResource`."""

    __slots__ = ()
    type_name: ClassVar = "kubernetes.authorization.ResourceCheck"


def overloads() -> Iterator[Overload]:
    """Yield the functions of the authorizer."""
    authorizer, resource = AuthorizerValue.type_name, ResourceCheck.type_name
    yield overload("path", f"{authorizer} string", _path)
    yield overload("serviceAccount", f"{authorizer} string string", _service_account)
    yield overload(
        "group",
        f"{authorizer} string",
        lambda value, group: _GroupCheck(replace(value.check, group=group), value.answers),
    )
    yield overload("resource", f"{_GroupCheck.type_name} string", _resource)
    for name in ("subresource", "namespace", "name"):
        yield overload(name, f"{resource} string", _narrowed(name))
    yield overload("fieldSelector", f"{resource} string", _narrowed("field_selector"), _selecting)
    yield overload("labelSelector", f"{resource} string", _narrowed("label_selector"), _selecting)
    for kind in (_PathCheck.type_name, resource):
        yield overload("check", f"{kind} string", _ask, lambda value, verb: _CHECK_COST)
    answer = AuthorizationAnswer.type_name
    yield overload("allowed", answer, lambda value: value.allowed)
    yield overload("reason", answer, lambda value: value.reason)
    yield overload("errored", answer, lambda value: bool(value.error))
    yield overload("error", answer, lambda value: value.error)


def _selecting(value: ResourceCheck, selector: str) -> int:
    return 10 + traversal(len(selector)) + _REQUIREMENT_COST * ((len(selector) + 1) // 2)


def _path(value: AuthorizerValue, path: str) -> _PathCheck:
    if not path.strip():
        raise CELError("path must not be empty")
    return _PathCheck(replace(value.check, path=path), value.answers)


def _service_account(value: AuthorizerValue, namespace: str, name: str) -> AuthorizerValue:
    if names.is_dns1123_subdomain(name):
        raise CELError("Invalid service account name")
    if names.is_dns1123_label(namespace):
        raise CELError("Invalid service account namespace")
    return AuthorizerValue(replace(value.check, account=(namespace, name)), value.answers)


def _resource(value: _GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise CELError("resource must not be empty")
    return ResourceCheck(replace(value.check, resource=resource), value.answers)


def _narrowed(field: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    def narrow(value: ResourceCheck, text: str) -> ResourceCheck:
        changed: dict[str, Any] = {field: text}
        return ResourceCheck(replace(value.check, **changed), value.answers)

    return narrow


def _ask(value: _Asking, verb: str) -> AuthorizationAnswer:
    check = replace(value.check, verb=verb)
    answer = value.answers.get(check)
    if answer is None:
        raise Unanswered(check)
    return answer
