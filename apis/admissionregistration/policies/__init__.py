"""Policies: stored admission policies take effect on writes of every resource.

validating_plugin   the admission plugin that denies writes
mutating_plugin     the admission plugin that changes objects
policy_source       the stored policies and bindings, followed and compiled once for each change
constraints         match constraints of policies and bindings, compiled
parameters          the parameter objects of a binding
expressions         compiled expressions
activation          evaluating expressions within limits and budgets
policy_variables    what expressions see of a write
match_conditions    the conditions of a policy
validating_policy   a compiled ValidatingAdmissionPolicy, and its decisions about one write
denial              the answer to a write that is denied
mutating_policy     a compiled MutatingAdmissionPolicy
patches             the results of its expressions become a changed document
write_evaluation    evaluates on the event loop or in another thread, and asks the authorizer
"""
