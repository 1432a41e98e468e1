"""DecodeProblems: the cached objects of one view that cannot be decoded completely."""


class DecodeProblems(dict[str, str]):
    """Maps storage keys to the reason why the object cannot be decoded; normally empty.

    Counts the problems that are set, for the metrics: a problem that is set again for the same
    reason is not a new one, because a view decodes an object once for each form.
    """

    def __init__(self) -> None:
        super().__init__()
        self._uncounted = 0

    def __setitem__(self, key: str, reason: str) -> None:
        if self.get(key) != reason:
            self._uncounted += 1
        super().__setitem__(key, reason)

    def take_count(self) -> int:
        """Return the number of new problems since the last call."""
        count, self._uncounted = self._uncounted, 0
        return count
