"""CEL interpreter: evaluates expressions on JSON documents, and counts what they cost meanwhile.

The rules of a schema are evaluated by the CEL library (`apimachinery.cel.program`). The expressions
of admission policies need more than it has: variables that are computed when they are read, values
with methods such as `authorizer`, constructed objects, macros with two variables, Kubernetes' words
for errors, and a cost that is counted while an expression is evaluated. The library still parses
them.

planned_expression  one expression, ready to be evaluated
evaluation          the state of one evaluation, and its cost
plan                a syntax tree becomes functions
loops               comprehensions
macros              macros that the parser does not expand
overloads           functions by name and types of their arguments
values              the types of CEL, equality and order
conversions, times, texts, text_format, collections, networks, quantities, named_formats
                    the functions of the standard library and of Kubernetes
authorization       `authorizer`, whose checks are answered between two evaluations
objects             values of type Object and JSONPatch
"""
