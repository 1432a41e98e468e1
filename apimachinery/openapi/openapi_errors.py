"""The errors of this package, apart so that each part can raise them without knowing the others."""


class UnpublishableType(TypeError):
    """A class, field or resource that OpenAPI cannot describe: its author must change something."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"{place}: {rule}")
        self.place = place
        self.rule = rule


class InvalidDocument(ValueError):
    """A document that is not OpenAPI v2 as Kubernetes writes it."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"OpenAPI document: {place}: {rule}")
        self.place = place
        self.rule = rule
