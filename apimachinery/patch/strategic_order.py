"""The element order of a list merged by a strategic merge patch.

Elements of the patch keep the order of the patch, and elements that only the server has keep the
server's order. The two are interleaved by the server's order; new elements, which have no place
in it, come before the server's remaining elements.
"""

from collections.abc import Sequence

from apimachinery.patch.json_values import JSONList, JSONValue
from apimachinery.patch.patch_errors import MalformedPatch
from apimachinery.patch.strategic_schema import (
    PATCH,
    SET_ELEMENT_ORDER,
    Identity,
    describe,
    has_directive,
    identity,
)


def arrange(
    elements: Sequence[JSONValue],
    *,
    preferred: Sequence[JSONValue],
    server: Sequence[JSONValue],
    merge_key: str,
    path: str,
) -> JSONList:
    """Return *elements* in the order of *preferred*, and the others in the order of *server*."""
    preferred_ranks = _ranks(preferred, merge_key, path)
    server_ranks = _ranks(server, merge_key, path)
    identified = [(identity(element, merge_key, path), element) for element in elements]
    patched = [pair for pair in identified if pair[0] in preferred_ranks]
    patched.sort(key=lambda pair: preferred_ranks[pair[0]])
    remaining = [pair for pair in identified if pair[0] not in preferred_ranks]
    remaining.sort(key=lambda pair: server_ranks.get(pair[0], len(server)))

    result: JSONList = []
    position = 0
    for element_id, element in patched:
        rank = server_ranks.get(element_id, -1)
        while (
            position < len(remaining)
            and server_ranks.get(remaining[position][0], len(server)) < rank
        ):
            result.append(remaining[position][1])
            position += 1
        result.append(element)
    return result + [element for _, element in remaining[position:]]


def _ranks(elements: Sequence[JSONValue], merge_key: str, path: str) -> dict[Identity, int]:
    ranks: dict[Identity, int] = {}
    for rank, element in enumerate(elements):
        ranks.setdefault(identity(element, merge_key, path), rank)
    return ranks


def require_order(patch: JSONList, order: JSONList, merge_key: str, path: str) -> None:
    """Raise MalformedPatch unless the patch elements follow the patch's own `$setElementOrder`."""
    if not patch or not order:
        return
    remaining = iter([identity(element, merge_key, path) for element in order])
    for element in patch:
        if not has_directive(element) and identity(element, merge_key, path) not in remaining:
            raise MalformedPatch(
                f"the order in patch list:\n{describe(patch)}\n"
                f" doesn't match {SET_ELEMENT_ORDER} list:\n{describe(order)}",
                path,
            )


def server_order(current: JSONList, patch: JSONList, merge_key: str, path: str) -> JSONList:
    """Return the server's list as Kubernetes orders it for `$setElementOrder`.

    Kubernetes deletes from that list in place and then appends, so each new element takes the slot
    of a deleted one and counts as a server element after all kept ones. The effect is visible to
    clients: elements that only the server has come before such a new element.
    """
    deleted = {
        identity(element, merge_key, path)
        for element in patch
        if isinstance(element, dict) and element.get(PATCH) == "delete"
    }
    if not deleted:
        return current
    kept = [element for element in current if identity(element, merge_key, path) not in deleted]
    changes = [element for element in patch if not has_directive(element)]
    kept_ranks = _ranks(kept, merge_key, path)
    added = [
        changes[rank]
        for element_id, rank in _ranks(changes, merge_key, path).items()
        if element_id not in kept_ranks
    ]
    return kept + added[: len(current) - len(kept)]
