"""Label and field selectors: parse and match the selectors of requests, services and controllers.

`label_selector` selects by labels, with equality, sets and existence; `field_selector` selects by
the fields that a resource supports, with equality only. Both compile a selector once and then match
plain mappings.
"""

from apimachinery.selectors.parser import InvalidSelector, Operator

__all__ = ["InvalidSelector", "Operator"]
