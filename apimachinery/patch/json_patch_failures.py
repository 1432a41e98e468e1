"""JSON patch failures: why a patch does not fit a document, in the words of Kubernetes.

A client that sends a patch gets another message. Those of admission webhooks are answered with this
one, which the authors of webhooks search for.
"""

from typing import Final

from apimachinery.patch.json_patch import apply
from apimachinery.patch.json_values import JSONObject, JSONValue
from apimachinery.patch.patch_errors import PatchFailed

_MISSING: Final = "missing value"
_INVALID_INDEX: Final = "invalid index referenced"
_KINDS: Final = ("add", "remove", "replace", "move", "copy", "test")


def failure_message(document: JSONValue, operations: JSONValue) -> str:
    """Return the message about the first operation that does not fit; empty if all do.

    *operations* is a list of objects and nulls.
    """
    assert isinstance(operations, list)
    for operation in operations:
        try:
            document = apply(document, [operation])
        except PatchFailed as error:
            known = operation if isinstance(operation, dict) else {}
            return _message(document, known) or error.message
    return ""


def _message(document: JSONValue, operation: JSONObject) -> str:
    kind = operation.get("op")
    if kind not in _KINDS:
        return f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}"
    if kind in ("move", "copy"):
        return _transfer(document, operation, str(kind))
    path = operation.get("path")
    if not isinstance(path, str):
        return f"{kind} operation failed to decode path: {_MISSING}"
    return _single(document, operation, str(kind), path)


def _single(document: JSONValue, operation: JSONObject, kind: str, path: str) -> str:
    if path == "" and kind == "replace":
        return "replace operation value must be object or array: %!w(<nil>)"
    found = _find(document, path) if path or kind != "test" else None
    if found is None:
        return _missing_path(kind, path)
    parent, key = found
    problem = _problem(parent, key, kind)
    if kind == "test":
        if problem:
            return f"error in test for path: '{path}': {problem}"
        return f"testing value {path} failed: test failed"
    if kind == "replace":
        return f"replace operation does not apply: doc is missing key: {path}: {_MISSING}"
    return f"error in {kind} for path: '{path}': {problem}"


def _missing_path(kind: str, path: str) -> str:
    match kind:
        case "replace":
            return f"replace operation does not apply: doc is missing path: {path}: {_MISSING}"
        case "test" if path == "":
            return f"testing value {path} failed: test failed"
        case "test":
            return f"test operation does not apply: is missing path: {path}: {_MISSING}"
    return f'{kind} operation does not apply: doc is missing path: "{path}": {_MISSING}'


def _transfer(document: JSONValue, operation: JSONObject, kind: str) -> str:
    """Return why a move or a copy fails."""
    source, target = operation.get("from"), operation.get("path")
    if not isinstance(source, str):
        return f"{kind} operation failed to decode from: {_MISSING}"
    found = _find(document, source)
    if found is None:
        return f"{kind} operation does not apply: doc is missing from path: {source}: {_MISSING}"
    problem = _problem(*found, "test" if kind == "copy" else "remove")
    if problem:
        word, place = ("from", source) if kind == "copy" else ("path", found[1])
        return f"error in {kind} for {word}: '{place}': {problem}"
    if not isinstance(target, str):
        return f"{kind} operation failed to decode path: {_MISSING}"
    if kind == "move":
        document = apply(document, [{"op": "remove", "path": source}])
    found = _find(document, target)
    if found is None:
        return (
            f"{kind} operation does not apply: doc is missing destination path: {target}:"
            f" {_MISSING}"
        )
    problem = _problem(*found, "add")
    if not problem:
        return ""
    if kind == "copy":
        return f"error while adding value during copy: {problem}"
    return f"error in move for path: '{target}': {problem}"


def _find(document: JSONValue, path: str) -> tuple[JSONValue, str] | None:
    """Return the container that a path leads to and the last key, None if there is none."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")]
    if len(tokens) < 2:
        return None
    for token in tokens[1:-1]:
        if isinstance(document, dict):
            document = document.get(token)
        elif isinstance(document, list) and not _index_problem(token, len(document)):
            document = document[int(token)]
        else:
            return None
        if not isinstance(document, (dict, list)):
            return None
    return document, tokens[-1]


def _problem(parent: JSONValue, key: str, kind: str) -> str:
    """Return why a container does not take an operation on a key; empty if it does."""
    if isinstance(parent, dict):
        if kind == "remove" and key not in parent:
            return f"Unable to remove nonexistent key: {key}: {_MISSING}"
        return ""
    assert isinstance(parent, list)
    if kind != "add":
        return _index_problem(key, len(parent))
    if key == "-":
        return ""
    problem = _index_problem(key, len(parent) + 1)
    if problem.startswith("strconv"):
        return f"value was not a proper array index: '{key}': {problem}"
    return problem


def _index_problem(key: str, length: int) -> str:
    try:
        index = int(key)
    except ValueError:
        return f'strconv.Atoi: parsing "{key}": invalid syntax'
    if not -length <= index < length:
        return f"Unable to access invalid index: {index}: {_INVALID_INDEX}"
    return ""
