"""Selectors: the labels of namespaces and objects for which a webhook or a policy is called."""

from dataclasses import dataclass

from apimachinery.errors import APIError, InternalError
from apimachinery.meta.types import LabelSelector, Object
from apimachinery.selectors.label_selector import Selector, from_label_selector, nothing
from apimachinery.selectors.parser import InvalidSelector
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite


@dataclass(frozen=True, slots=True)
class LabelMatch:
    """A compiled selector; one that is stored but invalid has a *problem*."""

    selector: Selector
    problem: str = ""

    def check(self) -> None:
        """Raise InternalError if the selector is invalid."""
        if self.problem:
            raise InternalError.of(self.problem)


def compile_selector(source: LabelSelector | None) -> LabelMatch:
    """Compile a selector as it is stored; None selects nothing, an empty one everything."""
    try:
        return LabelMatch(from_label_selector(source))
    except InvalidSelector as error:
        return LabelMatch(nothing(), str(error))


@dataclass(frozen=True, slots=True)
class Selectors:
    """The namespace selector and the object selector of one webhook or policy."""

    namespace: LabelMatch
    object: LabelMatch

    @classmethod
    def compile(cls, namespace: LabelSelector | None, obj: LabelSelector | None) -> "Selectors":
        return cls(compile_selector(namespace), compile_selector(obj))

    async def match(self, write: ReviewedWrite) -> bool:
        """Return whether a write has the labels, for a webhook or policy whose rules match.

        The labels of the object are compared before and after the change. Raises NotFound if the
        namespace of the object does not exist, InternalError for an invalid selector.
        """
        # As in Kubernetes, a namespace that cannot be found does not matter for other objects.
        try:
            has_namespace = await self._matches_namespace(write)
        except APIError:
            if self._matches_object(write):
                raise
            return False
        return has_namespace and self._matches_object(write)

    async def _matches_namespace(self, write: ReviewedWrite) -> bool:
        if not write.namespace and not write.is_namespace:
            return True  # cluster-scoped
        if self.namespace.selector.empty:
            return True
        self.namespace.check()
        return self.namespace.selector.matches(await write.namespace_labels())

    def _matches_object(self, write: ReviewedWrite) -> bool:
        selector = self.object.selector
        if selector.empty:
            return True
        self.object.check()
        return _selects(selector, write.attributes.object) or _selects(
            selector, write.attributes.old_object
        )


def _selects(selector: Selector, obj: Object | None) -> bool:
    return obj is not None and selector.matches(obj.metadata.labels)
