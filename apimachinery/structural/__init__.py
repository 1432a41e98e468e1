"""Structural schemas: the types of resources that are defined at run time.

A definition's `openAPIV3Schema` is compiled once (`Schema`), into closures that prune, default and
validate plain JSON values, and into the shape by which field ownership sees them.
"""

from apimachinery.structural.structural_schema import Schema

__all__ = ["Schema"]
