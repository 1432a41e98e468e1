"""Errors of the OpenAPI package, in a module of their own to avoid import cycles."""


class UnpublishableType(TypeError):
    """OpenAPI cannot describe a class, field or resource; the author of the API must change it."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"{place}: {rule}")
        self.place = place
        self.rule = rule


class InvalidDocument(ValueError):
    """A document is not valid OpenAPI as Kubernetes writes it, and cannot be encoded."""

    def __init__(self, place: str, rule: str) -> None:
        super().__init__(f"OpenAPI document: {place}: {rule}")
        self.place = place
        self.rule = rule
