"""Structural schemas: the types of custom resources, which are defined at run time.

The `openAPIV3Schema` of a CustomResourceDefinition is compiled once (`Schema`), into closures that
prune, default and validate plain JSON values, and into a shape for server-side apply. The modules:

    structural_rules                    check that a schema is structural, before it is compiled
    schema_node                         the skeleton of a schema, and its shape
    structural_schema                   `Schema`, the compiled schema
    pruning, defaulting                 drop unknown fields, fill in defaults
    schema_validation, value_checks     validate values, and report `problems`
    formats, patterns, implied_rules    string formats, regular expressions, unique list items
    custom_kind                         a custom kind with its codecs
    jsonpath                            the paths of printer columns
"""

from apimachinery.structural.structural_schema import Schema

__all__ = ["Schema"]
