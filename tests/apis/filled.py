"""Objects with every field set, always to the same values: a field that is lost is noticed."""

from apimachinery.testing.sample_objects import complete_object as filled

__all__ = ["filled"]
