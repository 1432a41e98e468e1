"""CEL expressions of webhooks and policies: compiled when the object is written.

Expressions see the request as Kubernetes shows it: `request` and `namespaceObject` have types,
`object`, `oldObject` and `params` have not. The variables of a policy are fields of `variables`,
each with the type of its expression.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from apimachinery.extras import MissingExtra, name_missing_extra
from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid

if TYPE_CHECKING:
    from apimachinery.cel.typed_expression import TypedEnvironment

MAX_EXPRESSIONS: Final = 1_000
"""The maximum number of expressions in an object: compiling one takes up to two milliseconds."""
EXPRESSION_EFFORT: Final = 500
"""Values whose processing takes about as long as compiling an expression."""

_TEXT: Final = "string"
_TIME: Final = "google.protobuf.Timestamp"
_LABELS: Final = "map(string, string)"
_KIND: Final = {"group": _TEXT, "version": _TEXT, "kind": _TEXT}
_RESOURCE: Final = {"group": _TEXT, "version": _TEXT, "resource": _TEXT}
_MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "kubernetes.GroupVersionKind": _KIND,
    "kubernetes.GroupVersionResource": _RESOURCE,
    "kubernetes.UserInfo": {
        "username": _TEXT,
        "uid": _TEXT,
        "groups": "list(string)",
        "extra": "map(string, dyn)",
    },
    "kubernetes.AdmissionRequest": {
        "kind": "kubernetes.GroupVersionKind",
        "resource": "kubernetes.GroupVersionResource",
        "subResource": _TEXT,
        "requestKind": "kubernetes.GroupVersionKind",
        "requestResource": "kubernetes.GroupVersionResource",
        "requestSubResource": _TEXT,
        "name": _TEXT,
        "namespace": _TEXT,
        "operation": _TEXT,
        "userInfo": "kubernetes.UserInfo",
        "dryRun": "bool",
        "options": "dyn",
    },
    "kubernetes.NamespaceSpec": {"finalizers": "list(string)"},
    "kubernetes.NamespaceCondition": {
        "status": _TEXT,
        "type": _TEXT,
        "lastTransitionTime": _TIME,
        "message": _TEXT,
        "reason": _TEXT,
    },
    "kubernetes.NamespaceStatus": {
        "conditions": "list(kubernetes.NamespaceCondition)",
        "phase": _TEXT,
    },
    "kubernetes.NamespaceMetadata": {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), _TEXT),
        **dict.fromkeys(("labels", "annotations"), _LABELS),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), _TIME),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), "int"),
        "finalizers": "list(string)",
    },
    "kubernetes.Namespace": {
        "metadata": "kubernetes.NamespaceMetadata",
        "spec": "kubernetes.NamespaceSpec",
        "status": "kubernetes.NamespaceStatus",
    },
}
_JSON_PATCH: Final = {"op": _TEXT, "path": _TEXT, "from": _TEXT, "value": "dyn"}
_VARIABLES: Final = "kubernetes.variables"
_USED_VARIABLE: Final = re.compile(r"\bvariables\s*\.\s*\??([A-Za-z_]\w*)")
_FIELD_TYPE: Final = re.compile(
    r"(?:list\(|map\(string, )?(?:bool|bytes|double|dyn|int|string|uint|kubernetes\.\w+)\)?"
    r"|google\.protobuf\.\w+"
)
_OBJECT_TYPE: Final = re.compile(r"\bObject(?:\.[A-Za-z_]\w*)+(?=\s*\{)")


class Expressions:
    """The expressions of one webhook or policy."""

    def __init__(self, *, has_params: bool, has_variables: bool = False) -> None:
        self._has_params = has_params
        self._types: dict[str, str] | None = {} if has_variables else None

    def check(
        self,
        text: str,
        path: Path,
        results: Sequence[str],
        *,
        value: str | None = None,
        has_authorizer: bool = True,
    ) -> FieldErrors:
        """Yield an error if an expression does not compile to one of the result types.

        *value* is the text that the error shows, if it is not the expression itself.
        """
        variables = self._used(text)
        yield from _checked(
            text,
            path,
            tuple(results),
            value=text if value is None else value,
            key=(self._has_params, has_authorizer, variables),
        )

    def add_variable(self, name: str, text: str, path: Path) -> FieldErrors:
        """Check the expression of a variable, which later expressions can use."""
        assert self._types is not None
        problems = list(self.check(text, path, ("any",)))
        yield from problems
        self._types[name] = "dyn"
        if not problems:
            result = _environment(self._has_params, True, self._used(text)).compile(text, ("any",))
            self._types[name] = field_type(result.result)

    def check_patch(self, text: str, path: Path, result: str) -> FieldErrors:
        """Check an expression that creates objects or patches: values of type Object, JSONPatch."""
        from apimachinery.cel.program import InvalidExpression

        flat = _OBJECT_TYPE.sub(lambda match: match[0].replace(".", "_"), text)
        key = (self._has_params, True, self._used(text))
        try:
            messages: dict[str, dict[str, str]] = {"Object": {}, "JSONPatch": dict(_JSON_PATCH)}
            for message, field in _environment(*key).message_fields(flat):
                if message.startswith("Object"):
                    fields = messages.setdefault(message, {})
                    if field:
                        fields[field] = "dyn"
            new_environment(*key, messages).compile(flat, (result,))
        except InvalidExpression as error:
            detail = str(error)
            for match in _OBJECT_TYPE.finditer(text):
                detail = detail.replace(match[0].replace(".", "_"), match[0])
            yield invalid(path, text, detail)

    def _used(self, text: str) -> tuple[tuple[str, str], ...] | None:
        """Return the variables that an expression mentions, so that its environment is small."""
        types = self._types
        if types is None:
            return None
        names = sorted({name for name in _USED_VARIABLE.findall(text) if name in types})
        return tuple((name, types[name]) for name in names)


def field_type(result: str) -> str:
    """Return the type of the field of `variables` for the result of an expression."""
    return result if _FIELD_TYPE.fullmatch(result) else "dyn"


Key = tuple[bool, bool, tuple[tuple[str, str], ...] | None]


def missing_cel(path: Path) -> FieldErrors:
    """Yield an error if this server cannot compile expressions."""
    try:
        with name_missing_extra():
            import apimachinery.cel.typed_expression  # noqa: F401
    except MissingExtra as error:
        yield forbidden(path, f"this server cannot evaluate CEL: {error}")


def too_many_expressions(count: int, path: Path) -> FieldErrors:
    """Yield an error if an object has more expressions than may be compiled for one write."""
    if count > MAX_EXPRESSIONS:
        yield forbidden(path, f"must not have more than {MAX_EXPRESSIONS} CEL expressions")


def _checked(
    text: str, path: Path, results: tuple[str, ...], *, value: str, key: Key
) -> FieldErrors:
    # Imported on first use: few servers have policies, and the CEL library is large.
    from apimachinery.cel.program import InvalidExpression

    try:
        _environment(*key).compile(text, results)
    except InvalidExpression as error:
        yield invalid(path, value, str(error))


@lru_cache(maxsize=64)  # expressions of one policy mostly use the same variables
def _environment(
    has_params: bool, has_authorizer: bool, variables: tuple[tuple[str, str], ...] | None
) -> "TypedEnvironment":
    return new_environment(has_params, has_authorizer, variables)


def new_environment(
    has_params: bool,
    has_authorizer: bool,
    variables: Iterable[tuple[str, str]] | None,
    messages: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    types: Mapping[str, str] = MappingProxyType({}),
) -> "TypedEnvironment":
    """Return the environment of expressions.

    *variables* are the names and types of `variables`. *types* are those of `object`, `oldObject`
    and `params`, which have none otherwise, in terms of *messages*.
    """
    from apimachinery.cel.typed_expression import TypedEnvironment

    names = {
        "object": "dyn",
        "oldObject": "dyn",
        "namespaceObject": "kubernetes.Namespace",
        "request": "kubernetes.AdmissionRequest",
    }
    if has_params:
        names["params"] = "dyn"
    if has_authorizer:
        names["authorizer"] = "kubernetes.authorization.Authorizer"
        names["authorizer.requestResource"] = "kubernetes.authorization.ResourceCheck"
    names |= {name: text for name, text in types.items() if name in names}
    declared = {**_MESSAGES, **messages}
    if variables is not None:
        names["variables"] = _VARIABLES
        declared[_VARIABLES] = dict(variables)
    return TypedEnvironment(names, declared)
