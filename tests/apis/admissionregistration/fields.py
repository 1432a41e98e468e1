"""The fields of admissionregistration.k8s.io with their numbers."""

ADMISSIONREGISTRATION = {
    "ApplyConfiguration": "expression=1",
    "AuditAnnotation": "key=1 valueExpression=2",
    "ExpressionWarning": "fieldRef=2 warning=3",
    "JSONPatch": "expression=1",
    "MatchCondition": "name=1 expression=2",
    "MatchResources": (
        "namespaceSelector=1 objectSelector=2 resourceRules=3 excludeResourceRules=4 matchPolicy=7"
    ),
    "MutatingAdmissionPolicy": "metadata=1 spec=2",
    "MutatingAdmissionPolicyBinding": "metadata=1 spec=2",
    "MutatingAdmissionPolicyBindingSpec": "policyName=1 paramRef=2 matchResources=3",
    "MutatingAdmissionPolicySpec": (
        "paramKind=1 matchConstraints=2 variables=3 mutations=4 failurePolicy=5 "
        "matchConditions=6 reinvocationPolicy=7"
    ),
    "MutatingWebhook": (
        "name=1 clientConfig=2 rules=3 failurePolicy=4 namespaceSelector=5 sideEffects=6 "
        "timeoutSeconds=7 admissionReviewVersions=8 matchPolicy=9 reinvocationPolicy=10 "
        "objectSelector=11 matchConditions=12"
    ),
    "MutatingWebhookConfiguration": "metadata=1 webhooks=2",
    "Mutation": "patchType=2 applyConfiguration=3 jsonPatch=4",
    "NamedRuleWithOperations": (
        "resourceNames=1 operations=2.1 apiGroups=2.2.1 apiVersions=2.2.2 resources=2.2.3 "
        "scope=2.2.4"
    ),
    "ParamKind": "apiVersion=1 kind=2",
    "ParamRef": "name=1 namespace=2 selector=3 parameterNotFoundAction=4",
    "RuleWithOperations": "operations=1 apiGroups=2.1 apiVersions=2.2 resources=2.3 scope=2.4",
    "ServiceReference": "namespace=1 name=2 path=3 port=4",
    "TypeChecking": "expressionWarnings=1",
    "ValidatingAdmissionPolicy": "metadata=1 spec=2 status=3",
    "ValidatingAdmissionPolicyBinding": "metadata=1 spec=2",
    "ValidatingAdmissionPolicyBindingSpec": (
        "policyName=1 paramRef=2 matchResources=3 validationActions=4"
    ),
    "ValidatingAdmissionPolicySpec": (
        "paramKind=1 matchConstraints=2 validations=3 failurePolicy=4 auditAnnotations=5 "
        "matchConditions=6 variables=7"
    ),
    "ValidatingAdmissionPolicyStatus": "observedGeneration=1 typeChecking=2 conditions=3",
    "ValidatingWebhook": (
        "name=1 clientConfig=2 rules=3 failurePolicy=4 namespaceSelector=5 sideEffects=6 "
        "timeoutSeconds=7 admissionReviewVersions=8 matchPolicy=9 objectSelector=10 "
        "matchConditions=11"
    ),
    "ValidatingWebhookConfiguration": "metadata=1 webhooks=2",
    "Validation": "expression=1 message=2 reason=3 messageExpression=4",
    "Variable": "name=1 expression=2",
    "WebhookClientConfig": "service=1 caBundle=2 url=3",
}
