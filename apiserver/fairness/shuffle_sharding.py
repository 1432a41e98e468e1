"""Shuffle sharding: each flow is dealt a hand of queues, by its hash.

Two flows may share a queue, but hardly ever all the queues of their hands. So a flow that fills its
queues leaves almost every other flow at least one queue that it does not use.
"""

from hashlib import sha256


def flow_hash(schema: str, distinguisher: str) -> int:
    """Return the 64-bit hash of a flow."""
    # User names may contain surrogates of bytes that are no UTF-8.
    text = f"{schema}\0{distinguisher}".encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(text).digest()[:8], "little")


def deal(hash_value: int, queues: int, hand_size: int) -> tuple[int, ...]:
    """Return the indices of a flow's queues, *hand_size* different ones of *queues*."""
    remainders: list[int] = []
    for dealt in range(hand_size):
        hash_value, remainder = divmod(hash_value, queues - dealt)
        remainders.append(remainder)
    hand = []
    for position, card in enumerate(remainders):
        # A remainder counts the queues that were not dealt before it.
        for earlier in reversed(remainders[:position]):
            if card >= earlier:
                card += 1
        hand.append(card)
    return tuple(hand)
