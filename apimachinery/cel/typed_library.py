"""Typed library: the signatures of Kubernetes' CEL functions, with types of their own.

The functions of `library` represent URLs, addresses and quantities by strings. Expressions that are
only checked when an object is written, such as those of admission policies, are checked against
these signatures: `quantity("1") == 1` does not compile.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from cel_expr_python import cel

from apimachinery.cel.declared_types import native_type

_QUANTITY: Final = "kubernetes.Quantity"
_SEMVER: Final = "kubernetes.Semver"
_URL: Final = "kubernetes.URL"
_FORMAT: Final = "kubernetes.NamedFormat"
_IP: Final = "net.IP"
_CIDR: Final = "net.CIDR"
_AUTHORIZER: Final = "kubernetes.authorization.Authorizer"
_GROUP_CHECK: Final = "kubernetes.authorization.GroupCheck"
_PATH_CHECK: Final = "kubernetes.authorization.PathCheck"
_RESOURCE_CHECK: Final = "kubernetes.authorization.ResourceCheck"
_DECISION: Final = "kubernetes.authorization.Decision"

OPAQUE_TYPES: Final = (
    *(_QUANTITY, _SEMVER, _URL, _FORMAT, _IP, _CIDR),
    *(_AUTHORIZER, _GROUP_CHECK, _PATH_CHECK, _RESOURCE_CHECK, _DECISION),
)

_NUMBERS: Final = ("int", "uint", "double", "google.protobuf.Duration")
_ORDERED: Final = (*_NUMBERS, "bool", "string", "bytes", "google.protobuf.Timestamp")
_FORMATS: Final = (
    *("dns1035Label", "dns1035LabelPrefix", "dns1123Label", "dns1123LabelPrefix"),
    *("dns1123Subdomain", "dns1123SubdomainPrefix", "labelValue", "qualifiedName"),
    *("byte", "date", "datetime", "uri", "uuid"),
)

_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "find": ("string string -> string",),
    "findAll": ("string string -> list(string)", "string string int -> list(string)"),
    "isSorted": tuple(f"list({item}) -> bool" for item in _ORDERED),
    "sum": tuple(f"list({item}) -> {item}" for item in _NUMBERS),
    "min": tuple(f"list({item}) -> {item}" for item in _ORDERED),
    "max": tuple(f"list({item}) -> {item}" for item in _ORDERED),
    "indexOf": ("list(dyn) dyn -> int",),
    "lastIndexOf": ("list(dyn) dyn -> int",),
    "includes": ("list(dyn) dyn -> bool",),
    "distinct": ("list(dyn) -> list(dyn)",),
    "flatten": ("list(dyn) -> list(dyn)", "list(dyn) int -> list(dyn)"),
    "slice": ("list(dyn) int int -> list(dyn)",),
    "sort": tuple(f"list({item}) -> list({item})" for item in _ORDERED),
    **dict.fromkeys(
        ("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"), (f"{_URL} -> string",)
    ),
    "getQuery": (f"{_URL} -> map(string, list(string))",),
    "family": (f"{_IP} -> int",),
    **dict.fromkeys(
        (
            *("isUnspecified", "isLoopback", "isLinkLocalMulticast"),
            *("isLinkLocalUnicast", "isGlobalUnicast"),
        ),
        (f"{_IP} -> bool",),
    ),
    "containsIP": (f"{_CIDR} string -> bool", f"{_CIDR} {_IP} -> bool"),
    "containsCIDR": (f"{_CIDR} string -> bool", f"{_CIDR} {_CIDR} -> bool"),
    "ip": (f"{_CIDR} -> {_IP}",),
    "prefixLength": (f"{_CIDR} -> int",),
    "masked": (f"{_CIDR} -> {_CIDR}",),
    "sign": (f"{_QUANTITY} -> int",),
    "isInteger": (f"{_QUANTITY} -> bool",),
    "asInteger": (f"{_QUANTITY} -> int",),
    "asApproximateFloat": (f"{_QUANTITY} -> double",),
    "isLessThan": (f"{_QUANTITY} {_QUANTITY} -> bool", f"{_SEMVER} {_SEMVER} -> bool"),
    "isGreaterThan": (f"{_QUANTITY} {_QUANTITY} -> bool", f"{_SEMVER} {_SEMVER} -> bool"),
    "compareTo": (f"{_QUANTITY} {_QUANTITY} -> int", f"{_SEMVER} {_SEMVER} -> int"),
    "add": (f"{_QUANTITY} {_QUANTITY} -> {_QUANTITY}", f"{_QUANTITY} int -> {_QUANTITY}"),
    "sub": (f"{_QUANTITY} {_QUANTITY} -> {_QUANTITY}", f"{_QUANTITY} int -> {_QUANTITY}"),
    **dict.fromkeys(("major", "minor", "patch"), (f"{_SEMVER} -> int",)),
    "validate": (f"{_FORMAT} string -> dyn",),
    "path": (f"{_AUTHORIZER} string -> {_PATH_CHECK}",),
    "group": (f"{_AUTHORIZER} string -> {_GROUP_CHECK}",),
    "serviceAccount": (f"{_AUTHORIZER} string string -> {_AUTHORIZER}",),
    "resource": (f"{_GROUP_CHECK} string -> {_RESOURCE_CHECK}",),
    **dict.fromkeys(
        ("subresource", "namespace", "name", "fieldSelector", "labelSelector"),
        (f"{_RESOURCE_CHECK} string -> {_RESOURCE_CHECK}",),
    ),
    "check": (f"{_PATH_CHECK} string -> {_DECISION}", f"{_RESOURCE_CHECK} string -> {_DECISION}"),
    **dict.fromkeys(("allowed", "errored"), (f"{_DECISION} -> bool",)),
    **dict.fromkeys(("reason", "error"), (f"{_DECISION} -> string",)),
}
"""Member functions: the first parameter is the value they are called on."""

_FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "quantity": (f"string -> {_QUANTITY}",),
    "semver": (f"string -> {_SEMVER}", f"string bool -> {_SEMVER}"),
    "isSemver": ("string -> bool", "string bool -> bool"),
    "url": (f"string -> {_URL}",),
    "ip": (f"string -> {_IP}",),
    "cidr": (f"string -> {_CIDR}",),
    **dict.fromkeys(("isQuantity", "isURL", "isIP", "isCIDR"), ("string -> bool",)),
    "ip.isCanonical": ("string -> bool",),
    "string": (f"{_IP} -> string", f"{_CIDR} -> string"),
    **dict.fromkeys(
        ("sets.contains", "sets.equivalent", "sets.intersects"), ("list(dyn) list(dyn) -> bool",)
    ),
    "lists.range": ("int -> list(int)",),
    "format.named": ("string -> dyn",),
    **{f"format.{name}": (f"-> {_FORMAT}",) for name in _FORMATS},
    "jsonpatch.escapeKey": ("string -> string",),
    **dict.fromkeys(
        ("_<_", "_<=_", "_>_", "_>=_"),
        tuple(
            f"{left} {right} -> bool"
            for left in ("int", "uint", "double")
            for right in ("int", "uint", "double")
            if left != right
        ),
    ),
}


@cache
def typed_extension() -> Any:
    """Return the CEL extension with all signatures; its functions cannot be called."""
    overloads: dict[str, list[Any]] = {}
    for name, signature, is_member in _signatures():
        known = overloads.setdefault(name, [])
        parameters, _, returned = signature.rpartition("->")
        result = native_type(returned.strip())
        types = [native_type(text) for text in parameters.split()]
        identity = f"typed_{name.replace('.', '_')}_{len(known)}"
        known.append(cel.Overload(identity, result, types, is_member, _cannot_call))
    return cel.CelExtension(
        "kubernetes.typed", [cel.FunctionDecl(name, known) for name, known in overloads.items()]
    )


def _signatures() -> Iterator[tuple[str, str, bool]]:
    for functions, is_member in ((_MEMBERS, True), (_FUNCTIONS, False)):
        for name, signatures in functions.items():
            for signature in signatures:
                yield name, signature, is_member


def _cannot_call(*arguments: Any) -> Any:
    raise NotImplementedError("typed functions are only checked")
