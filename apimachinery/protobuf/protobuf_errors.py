"""What can go wrong between a Model and its protobuf form."""


class InvalidProtobuf(ValueError):
    """Bytes that are not the message they should be, or a value that no message can hold.

    *place* is the path of the field in wire names, empty for the document as a whole.
    """

    def __init__(self, rule: str, place: str = "") -> None:
        self.rule = rule
        self.place = place
        super().__init__(f"{place}: {rule}" if place else rule)

    def under(self, step: str) -> "InvalidProtobuf":
        """The same error, seen from the message that holds the field *step*."""
        return InvalidProtobuf(self.rule, f"{step}.{self.place}" if self.place else step)


class NoProtobufForm(TypeError):
    """A class that protobuf cannot carry, mostly because its fields declare no numbers."""
