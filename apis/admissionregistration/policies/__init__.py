"""Policies: ValidatingAdmissionPolicies take effect on writes of every resource.

plugin              the admission plugin: which policies concern a write, and what they decide
policy_source       the stored policies and bindings, followed and compiled once for each change
constraints         match constraints of policies and bindings, compiled
parameters          the parameter objects of a binding
expressions         compiled expressions
activation          the variables of expressions, and the budgets of evaluating them
match_conditions    the conditions of a policy
validating_policy   a compiled ValidatingAdmissionPolicy, and its decisions about one write
denial              the answer to a write that is denied
write_evaluation    evaluates on the event loop or in another thread, and asks the authorizer
policy_metrics      what policies have decided, as Kubernetes counts it
"""
