"""Was there an order in which all this could have happened one after the other?

A history is what several callers saw: when each asked, when it was answered, and what. The checker
looks for an order of the operations that keeps "answered before asked" and in which a store that
does one thing at a time would have given the same answers (Wing and Gong's search, with Lowe's
memory of configurations already tried).

Every value is written once, so a value that is seen tells which write made it. Revisions are what
keep the search narrow: writes must be ordered by their revisions, so at any moment only one write
of known revision can come next. A write with no answer may take effect at any time after it was
asked for, or never; if its value was seen by anybody, it did take effect, at the revision seen.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import inf

from apiserver.storage.interface import (
    Backend,
    KeyExists,
    Record,
    RevisionConflict,
    Unavailable,
)
from tests.faults.figures import record_figures


class Kind(Enum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    GET = "get"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class Seen:
    """A key as an answer showed it."""

    revision: int
    value: bytes


Contents = tuple[tuple[str, Seen], ...]
"""What a list showed, in the order of the keys."""


@dataclass(frozen=True, slots=True)
class Written:
    """The write took effect."""

    revision: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The condition of the write did not hold."""

    current: Seen | None = None
    """What the key was, where the store says so; a refused creation does not."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a get showed."""

    seen: Seen | None


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list showed, and the revision it was a snapshot of."""

    contents: Contents
    revision: int


Answer = Written | Refused | Found | Listed | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One call and its answer; *answer* None means that nobody knows whether it took effect."""

    kind: Kind
    asked: float
    answered: float
    key: str = ""
    value: bytes = b""
    expected: int = 0
    answer: Answer = None

    @property
    def writes(self) -> bool:
        return self.kind in (Kind.CREATE, Kind.UPDATE, Kind.DELETE)


def is_linearizable(history: Iterable[Operation]) -> bool:
    """Whether one store doing one thing at a time could have given these answers."""
    return _Search(_resolve(list(history))).succeeds()


def _resolve(history: Sequence[Operation]) -> list[Operation]:
    """Give unanswered writes the revision their value was seen at; forget unanswered reads."""
    seen = {each.value: each.revision for each in _sightings(history)}
    resolved = []
    for operation in history:
        if operation.answer is None and not operation.writes:
            continue
        if (
            operation.kind is not Kind.DELETE
            and operation.answer is None
            and operation.value in seen
        ):
            operation = replace(operation, answer=Written(seen[operation.value]))
        resolved.append(operation)
    return sorted(resolved, key=lambda each: each.asked)


def _sightings(history: Iterable[Operation]) -> Iterable[Seen]:
    for operation in history:
        match operation.answer:
            case Found(Seen() as seen) | Refused(Seen() as seen):
                yield seen
            case Listed(contents):
                yield from (seen for _, seen in contents)


@dataclass(frozen=True, slots=True)
class _State:
    """The store between two operations."""

    keys: Contents = ()
    revision: int = 0
    """The newest revision anybody was told of."""
    writes: int = 0
    """How many of the writes of known revision have happened."""

    def key(self, name: str) -> Seen | None:
        return next((seen for key, seen in self.keys if key == name), None)

    def with_key(self, name: str, seen: Seen | None, *, revision: int, known: bool) -> "_State":
        keys = [each for each in self.keys if each[0] != name]
        if seen is not None:
            keys = sorted([*keys, (name, seen)])
        return _State(tuple(keys), revision, self.writes + known)


_UNSEEN = -1
"""The revision of a write that nobody was told of and nobody has seen."""


class _Search:
    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations
        answered = [each for each in operations if isinstance(each.answer, Written)]
        self._order = sorted(_revision(each) for each in answered)
        self._required = 0
        for index, operation in enumerate(operations):
            if operation.answer is not None:
                self._required |= 1 << index

    def succeeds(self) -> bool:
        if len(set(self._order)) < len(self._order):
            return False
        tried: set[tuple[int, _State]] = set()
        waiting = [(0, _State())]
        while waiting:
            done, state = waiting.pop()
            if done & self._required == self._required:
                return True
            for index in self._candidates(done):
                after = self._apply(self._operations[index], state)
                configuration = None if after is None else (done | 1 << index, after)
                if configuration is not None and configuration not in tried:
                    tried.add(configuration)
                    waiting.append(configuration)
        return False

    def _candidates(self, done: int) -> list[int]:
        """Operations that were asked for before any other that is not done was answered."""
        first_answer = inf
        found = []
        # The lowest bit that is not set is the first operation that is not done.
        index = (~done & (done + 1)).bit_length() - 1
        while index < len(self._operations):
            operation = self._operations[index]
            if operation.asked > first_answer:
                break
            if not done >> index & 1:
                found.append(index)
                first_answer = min(first_answer, operation.answered)
            index += 1
        return found

    def _apply(self, operation: Operation, state: _State) -> _State | None:
        """The store after *operation*, or None if it would have given another answer."""
        match operation.answer:
            case Found(seen):
                return state if state.key(operation.key) == seen else None
            case Listed(contents, revision):
                agrees = state.keys == contents and revision >= state.revision
                return replace(state, revision=revision) if agrees else None
            case Refused(current):
                return state if self._refuses(operation, current, state) else None
            case Written(revision):
                due = state.writes < len(self._order) and self._order[state.writes] == revision
                if not due or revision <= state.revision or not _holds(operation, state):
                    return None
                return _after(operation, state, revision, known=True)
            case None:
                return _after(operation, state, _UNSEEN, known=False)

    def _refuses(self, operation: Operation, current: Seen | None, state: _State) -> bool:
        found = state.key(operation.key)
        if operation.kind is Kind.CREATE:
            return found is not None
        return not _holds(operation, state) and found == current


def _revision(operation: Operation) -> int:
    assert isinstance(operation.answer, Written)
    return operation.answer.revision


def _holds(operation: Operation, state: _State) -> bool:
    found = state.key(operation.key)
    if operation.kind is Kind.CREATE:
        return found is None
    return found is not None and found.revision == operation.expected


def _after(operation: Operation, state: _State, revision: int, *, known: bool) -> _State | None:
    if not _holds(operation, state):
        return None
    seen = None if operation.kind is Kind.DELETE else Seen(revision, operation.value)
    newest = revision if known else state.revision
    return state.with_key(operation.key, seen, revision=newest, known=known)


@dataclass
class Recorder:
    """Does operations on backends and writes down who saw what and when.

    One recorder serves all callers of one event loop, so that its clock orders their questions and
    answers.
    """

    history: list[Operation] = field(default_factory=list)
    _clock: "itertools.count[int]" = field(default_factory=itertools.count)

    async def create(self, backend: Backend, key: str, value: bytes) -> None:
        asked = next(self._clock)
        answer: Answer
        try:
            answer = Written(await backend.create(key, value))
        except KeyExists:
            answer = Refused()
        except Unavailable as error:
            if not error.uncertain:
                return
            answer = None
        self._note(Kind.CREATE, asked, answer, key=key, value=value)

    async def update(self, backend: Backend, key: str, value: bytes, expected: int) -> None:
        asked = next(self._clock)
        answer: Answer
        try:
            answer = Written(await backend.update(key, value, revision=expected))
        except RevisionConflict as conflict:
            answer = Refused(_seen(conflict.current))
        except Unavailable as error:
            if not error.uncertain:
                return
            answer = None
        self._note(Kind.UPDATE, asked, answer, key=key, value=value, expected=expected)

    async def delete(self, backend: Backend, key: str, expected: int) -> None:
        asked = next(self._clock)
        answer: Answer
        try:
            answer = Written(await backend.delete(key, revision=expected))
        except RevisionConflict as conflict:
            answer = Refused(_seen(conflict.current))
        except Unavailable as error:
            if not error.uncertain:
                return
            answer = None
        self._note(Kind.DELETE, asked, answer, key=key, expected=expected)

    async def get(self, backend: Backend, key: str) -> Seen | None:
        asked = next(self._clock)
        try:
            seen = _seen(await backend.get(key))
        except Unavailable:
            return None
        self._note(Kind.GET, asked, Found(seen), key=key)
        return seen

    async def list(self, backend: Backend, prefix: str) -> None:
        asked = next(self._clock)
        try:
            page = await backend.range(prefix)
        except Unavailable:
            return
        contents = tuple((each.key, Seen(each.revision, each.value)) for each in page.records)
        self._note(Kind.LIST, asked, Listed(contents, page.revision))

    def _note(
        self,
        kind: Kind,
        asked: int,
        answer: Answer,
        *,
        key: str = "",
        value: bytes = b"",
        expected: int = 0,
    ) -> None:
        answered = inf if answer is None else next(self._clock)
        self.history.append(Operation(kind, asked, answered, key, value, expected, answer))


def _seen(record: Record | None) -> Seen | None:
    return None if record is None else Seen(record.revision, record.value)


def record_history(suite: str, history: Sequence[Operation], rounds: int) -> None:
    """Keep how much of a linearizable history a suite has seen."""
    answered = [operation for operation in history if operation.answer is not None]
    writes = sum(operation.writes for operation in answered)
    record_figures(
        "fault suites", suite, rounds=rounds, writes=writes, reads=len(answered) - writes
    )
