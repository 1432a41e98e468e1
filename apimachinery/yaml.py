"""YAML as Kubernetes reads it: JSON in other clothes.

PyYAML follows YAML 1.1 to the letter; the original does not, and a manifest must mean the same
here: a date stays a string, `1:30` is not ninety, keys become strings, `<<` merges. A key that
stands twice is reported with its path. Anchors may share parts of a document, so the size is
bounded as if each use had been written out.
"""

import base64
import binascii
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from apimachinery.meta.decode import DecodeError

MAX_NODES = 400_000
"""What a document of the largest accepted size can hold; more comes from repeated anchors."""
MAX_DEPTH = 200
"""The same as for JSON."""

_BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BASE_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}

Number = int | float


def load_yaml(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """The one document in *data* as a JSON value, and the paths of repeated keys."""
    try:
        text = data.decode("utf-8")
        nodes = [node for node in yaml.compose_all(text, Loader=_BASE) if node is not None]
    except UnicodeDecodeError as error:
        raise DecodeError(f"yaml: not UTF-8 at byte {error.start}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise DecodeError(f"yaml: {_one_line(error)}") from None
    except RecursionError:
        raise DecodeError(f"yaml: nested deeper than {MAX_DEPTH}") from None
    if len(nodes) > 1:
        raise DecodeError(f"yaml: expected one document, found {len(nodes)}")
    if not nodes:
        return None, ()
    reader = _Reader()
    return reader.value(nodes[0], "", 0), tuple(reader.duplicates)


def dump_yaml(value: Any) -> bytes:
    """A JSON value as block-style YAML, in the order of the value."""
    text = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False,
        width=2**31 - 1,
    )  # fmt: skip
    return bytes(text, "utf-8")


class _Reader:
    """Turns nodes into JSON values, counting them and noting keys that repeat."""

    def __init__(self) -> None:
        self.duplicates: list[str] = []
        self._count = 0

    def value(self, node: yaml.Node, path: str, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_NODES:
            raise DecodeError("yaml: document contains excessive aliasing")
        if depth > MAX_DEPTH:
            raise DecodeError(f"yaml: nested deeper than {MAX_DEPTH} at {path[:200] or 'the top'}")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [
                self.value(item, f"{path}[{position}]", depth + 1)
                for position, item in enumerate(node.value)
            ]
        return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                for part in self._merged(value_node, path, depth):
                    merged = {**part, **merged}
                continue
            key = _key(key_node)
            here = f"{path}.{key}" if path else key
            if key in made:
                self.duplicates.append(here)
            made[key] = self.value(value_node, here, depth + 1)
        return {**merged, **made} if merged else made

    def _merged(self, node: yaml.Node, path: str, depth: int) -> Iterator[dict[str, Any]]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                raise DecodeError(
                    f"yaml: {_where(node)}: map merge requires map or sequence of maps"
                )
            yield self._mapping(part, path, depth + 1)


def _scalar(node: yaml.Node) -> Any:
    text: str = node.value
    tag = node.tag.removeprefix("tag:yaml.org,2002:")
    if tag not in _TAGS:
        raise DecodeError(f"yaml: {_where(node)}: unknown tag {node.tag!r}")
    if tag == "binary":
        return _binary(node, text)
    if getattr(node, "style", None) or _is_explicit_string(node):
        return text
    # Which plain scalars are numbers is decided here, not by PyYAML's resolver.
    return _plain(text)


_TAGS = frozenset(("str", "int", "float", "bool", "null", "timestamp", "binary", "merge", "value"))


def _is_explicit_string(node: yaml.Node) -> bool:
    """Whether a plain scalar is a string because its author said so (`!!str 5`)."""
    if not node.tag.endswith(":str"):
        return False
    resolver: Any = yaml.resolver.Resolver()
    return bool(resolver.resolve(yaml.ScalarNode, node.value, (True, False)) != node.tag)


def _plain(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NOT_FINITE.fullmatch(text):
        raise DecodeError(f"yaml: {text} is not a number that JSON has")
    if len(text) <= 4000 and _INT.fullmatch(text):
        return _integer(text.replace("_", ""))
    if len(text) <= 4000 and _FLOAT.fullmatch(text):
        return _decimal(text)
    return text


def _integer(text: str) -> Number:
    digits = text.lstrip("+-")
    sign = -1 if text.startswith("-") else 1
    base = {"0b": 2, "0o": 8, "0x": 16}.get(digits[:2], 8 if digits[0] == "0" else 10)
    value = sign * int(digits.removeprefix("0b").removeprefix("0o").removeprefix("0x") or "0", base)
    return value if -(2**63) <= value < 2**64 else float(value)


def _decimal(text: str) -> float:
    value = float(text.replace("_", ""))
    if math.isinf(value):
        raise DecodeError(f"yaml: {text[:40]} is too large a number")
    return value


def _key(node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise DecodeError(f"yaml: {_where(node)}: a key must be a scalar")
    value = _scalar(node)
    if value is None:
        raise DecodeError(f"yaml: {_where(node)}: a key must not be null")
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _binary(node: yaml.Node, text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        raise DecodeError(f"yaml: {_where(node)}: !!binary is not base64 of UTF-8") from None


def _where(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}" if node.start_mark else "somewhere"


def _one_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).split("\n")[0]
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)


class _Dumper(_BASE_DUMPER):  # type: ignore[misc, valid-type]
    """Writes strings so that both YAML 1.1 and the original read them back as strings."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_str(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    # `y` is plain to PyYAML and a boolean to other readers; `1:30` and dates are the reverse.
    if style is None and (text in ("y", "Y", "n", "N") or not isinstance(_safe_plain(text), str)):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _safe_plain(text: str) -> Any:
    try:
        return _plain(text)
    except DecodeError:
        return None


_Dumper.add_representer(str, _represent_str)
