"""CEL: the validation rules of schemas (`x-kubernetes-validations`).

validation_rules    compile the rules of a schema and evaluate them on values
program             one compiled expression
library             the functions that Kubernetes adds to CEL
cel_values          convert JSON values to the types of CEL
"""
