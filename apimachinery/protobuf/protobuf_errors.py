"""Errors of protobuf encoding and decoding."""


class InvalidProtobuf(ValueError):
    """Bytes are not a valid message, or a value cannot be encoded.

    *place* is the path of the field in wire names, empty for the whole document.
    """

    def __init__(self, rule: str, place: str = "") -> None:
        self.rule = rule
        self.place = place
        super().__init__(f"{place}: {rule}" if place else rule)

    def under(self, step: str) -> "InvalidProtobuf":
        """Return the error with its path prefixed by *step*."""
        return InvalidProtobuf(self.rule, f"{step}.{self.place}" if self.place else step)


class NoProtobufForm(TypeError):
    """A class cannot be encoded as protobuf, usually because a field declares no number."""
