"""Selectors: which objects a request, a service or a controller means.

`labels` selects by labels, with sets and existence; `fields` selects by the few fields a resource
offers, with equality only. Both compile a text once and then match plain mappings.
"""

from apimachinery.selectors.parser import InvalidSelector, Operator

__all__ = ["InvalidSelector", "Operator"]
