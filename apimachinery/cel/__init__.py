"""CEL: the rules of schemas (`x-kubernetes-validations`), and expressions in other objects.

validation_rules      the rules of a schema, evaluated on the values of an object
compiled_rule         one rule with its expressions
rule_budget           the limits on what the rules of an object may cost
program               one compiled expression
library               the functions that Kubernetes adds to CEL
cel_values            convert JSON values to the types of CEL

typed_expression      an expression over declared variables, checked for its type, not evaluated
typed_library         the signatures of Kubernetes' functions, with types of their own
declared_types        types in CEL's notation

checked_expression    the syntax tree of an expression
optional_values       where an expression may pass optional values to Python
read_fields           the fields that an expression reads
value_bounds          how large the values of an expression can be
cost_model            what an expression costs at most, in two models:
definition_costs      Kubernetes' estimate when a rule is defined
evaluation_costs      the time and memory of an evaluation on known values
"""
