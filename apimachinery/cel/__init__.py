"""CEL: the validation rules of schemas (`x-kubernetes-validations`).

validation_rules      the rules of a schema, evaluated on the values of an object
compiled_rule         one rule with its expressions
rule_budget           the limits on what the rules of an object may cost
program               one compiled expression
library               the functions that Kubernetes adds to CEL
cel_values            convert JSON values to the types of CEL

checked_expression    the syntax tree of an expression
read_fields           the fields that an expression reads
value_bounds          how large the values of an expression can be
cost_model            what an expression costs at most, in two models:
definition_costs      Kubernetes' estimate when a rule is defined
evaluation_costs      the time and memory of an evaluation on known values
"""
