"""Every field of the public API with its protobuf number, so that a missing one is noticed.

The tables are facts about Kubernetes, written down by hand from its published API.
"""

from collections.abc import Mapping
from types import ModuleType

import pytest

from apimachinery.meta.types import TypeMeta
from apimachinery.model.class_fields import fields_of
from apimachinery.model.model import Model
from apis.admissionregistration import v1 as admissionregistration
from apis.apiextensions import v1 as apiextensions
from apis.apiregistration import v1 as apiregistration
from apis.apps import v1 as apps
from apis.authentication import v1 as authentication
from apis.authorization import v1 as authorization
from apis.autoscaling import v1 as autoscaling_v1
from apis.autoscaling import v2 as autoscaling_v2
from apis.batch import v1 as batch
from apis.certificates import v1 as certificates
from apis.coordination import v1 as coordination
from apis.core import v1 as core
from apis.discovery import v1 as discovery
from apis.events import v1 as events
from apis.flowcontrol import v1 as flowcontrol
from apis.networking import v1 as networking
from apis.node import v1 as node
from apis.policy import v1 as policy
from apis.rbac import v1 as rbac
from apis.resource import v1 as resource
from apis.scheduling import v1 as scheduling
from apis.storage import v1 as storage
from apis.storagemigration import v1 as storagemigration
from tests.apis.admissionregistration.fields import ADMISSIONREGISTRATION
from tests.apis.apiregistration.fields import APIREGISTRATION
from tests.apis.apps.fields import APPS
from tests.apis.autoscaling.fields import AUTOSCALING_V1, AUTOSCALING_V2
from tests.apis.batch.fields import BATCH
from tests.apis.certificates.fields import CERTIFICATES
from tests.apis.core.cluster_fields import CLUSTER
from tests.apis.core.pod_fields import POD_FIELDS
from tests.apis.discovery.fields import DISCOVERY
from tests.apis.networking.fields import NETWORKING
from tests.apis.node.fields import NODE
from tests.apis.policy.fields import POLICY
from tests.apis.resource.fields import RESOURCE
from tests.apis.scheduling.fields import SCHEDULING
from tests.apis.storage.fields import STORAGE
from tests.apis.storagemigration.fields import STORAGEMIGRATION

CORE = {
    "ClientIPConfig": "timeoutSeconds=1",
    "ConfigMap": "metadata=1 data=2 binaryData=3 immutable=4",
    "Event": (
        "metadata=1 involvedObject=2 reason=3 message=4 source=5 firstTimestamp=6 lastTimestamp=7 "
        "count=8 type=9 eventTime=10 series=11 action=12 related=13 reportingComponent=14 "
        "reportingInstance=15"
    ),
    "EventSeries": "count=1 lastObservedTime=2",
    "EventSource": "component=1 host=2",
    "LoadBalancerIngress": "ip=1 hostname=2 ipMode=3 ports=4",
    "LoadBalancerStatus": "ingress=1",
    "LocalObjectReference": "name=1",
    "Namespace": "metadata=1 spec=2 status=3",
    "NamespaceCondition": "type=1 status=2 lastTransitionTime=4 reason=5 message=6",
    "NamespaceSpec": "finalizers=1",
    "NamespaceStatus": "phase=1 conditions=2",
    "ObjectReference": "kind=1 namespace=2 name=3 uid=4 apiVersion=5 resourceVersion=6 fieldPath=7",
    "PortStatus": "port=1 protocol=2 error=3",
    "Secret": "metadata=1 data=2 type=3 stringData=4 immutable=5",
    "Service": "metadata=1 spec=2 status=3",
    "ServiceAccount": "metadata=1 secrets=2 imagePullSecrets=3 automountServiceAccountToken=4",
    "ServicePort": "name=1 protocol=2 port=3 targetPort=4 nodePort=5 appProtocol=6",
    "ServiceSpec": (
        "ports=1 selector=2 clusterIP=3 type=4 externalIPs=5 sessionAffinity=7 loadBalancerIP=8 "
        "loadBalancerSourceRanges=9 externalName=10 externalTrafficPolicy=11 "
        "healthCheckNodePort=12 publishNotReadyAddresses=13 sessionAffinityConfig=14 "
        "ipFamilyPolicy=17 clusterIPs=18 ipFamilies=19 allocateLoadBalancerNodePorts=20 "
        "loadBalancerClass=21 internalTrafficPolicy=22 trafficDistribution=23"
    ),
    "ServiceStatus": "loadBalancer=1 conditions=2",
    "SessionAffinityConfig": "clientIP=1",
    **CLUSTER,
}

COORDINATION = {
    "Lease": "metadata=1 spec=2",
    "LeaseSpec": (
        "holderIdentity=1 leaseDurationSeconds=2 acquireTime=3 renewTime=4 leaseTransitions=5 "
        "strategy=6 preferredHolder=7"
    ),
}

APIEXTENSIONS = {
    "CustomResourceColumnDefinition": "name=1 type=2 format=3 description=4 priority=5 jsonPath=6",
    "CustomResourceConversion": "strategy=1 webhook=2",
    "CustomResourceDefinition": "metadata=1 spec=2 status=3",
    "CustomResourceDefinitionCondition": (
        "type=1 status=2 lastTransitionTime=3 reason=4 message=5 observedGeneration=6"
    ),
    "CustomResourceDefinitionNames": (
        "plural=1 singular=2 shortNames=3 kind=4 listKind=5 categories=6"
    ),
    "CustomResourceDefinitionSpec": (
        "group=1 names=3 scope=4 versions=7 conversion=9 preserveUnknownFields=10"
    ),
    "CustomResourceDefinitionStatus": (
        "conditions=1 acceptedNames=2 storedVersions=3 observedGeneration=4"
    ),
    "CustomResourceDefinitionVersion": (
        "name=1 served=2 storage=3 deprecated=7 deprecationWarning=8 schema=4 "
        "subresources=5 additionalPrinterColumns=6 selectableFields=9"
    ),
    "CustomResourceSubresourceScale": "specReplicasPath=1 statusReplicasPath=2 labelSelectorPath=3",
    "CustomResourceSubresourceStatus": "",
    "CustomResourceSubresources": "status=1 scale=2",
    "CustomResourceValidation": "openAPIV3Schema=1",
    "ExternalDocumentation": "description=1 url=2",
    "JSONSchemaProps": (
        "id=1 $schema=2 $ref=3 description=4 type=5 format=6 title=7 default=8 maximum=9 "
        "exclusiveMaximum=10 minimum=11 exclusiveMinimum=12 maxLength=13 minLength=14 "
        "pattern=15 maxItems=16 minItems=17 uniqueItems=18 multipleOf=19 enum=20 "
        "maxProperties=21 minProperties=22 required=23 items=24 allOf=25 oneOf=26 anyOf=27 "
        "not=28 properties=29 additionalProperties=30 patternProperties=31 dependencies=32 "
        "additionalItems=33 definitions=34 externalDocs=35 example=36 nullable=37 "
        "x-kubernetes-preserve-unknown-fields=38 x-kubernetes-embedded-resource=39 "
        "x-kubernetes-int-or-string=40 x-kubernetes-list-map-keys=41 "
        "x-kubernetes-list-type=42 x-kubernetes-map-type=43 x-kubernetes-validations=44"
    ),
    "SelectableField": "jsonPath=1",
    "ServiceReference": "namespace=1 name=2 path=3 port=4",
    "ValidationRule": "rule=1 message=2 messageExpression=3 reason=4 fieldPath=5 optionalOldSelf=6",
    "WebhookClientConfig": "url=3 service=1 caBundle=2",
    "WebhookConversion": "clientConfig=2 conversionReviewVersions=3",
}

AUTHORIZATION = {
    "FieldSelectorAttributes": "rawSelector=1 requirements=2",
    "LabelSelectorAttributes": "rawSelector=1 requirements=2",
    "LocalSubjectAccessReview": "metadata=1 spec=2 status=3",
    "NonResourceAttributes": "path=1 verb=2",
    "NonResourceRule": "verbs=1 nonResourceURLs=2",
    "ResourceAttributes": (
        "namespace=1 verb=2 group=3 version=4 resource=5 subresource=6 name=7 fieldSelector=8 "
        "labelSelector=9"
    ),
    "ResourceRule": "verbs=1 apiGroups=2 resources=3 resourceNames=4",
    "SelfSubjectAccessReview": "metadata=1 spec=2 status=3",
    "SelfSubjectAccessReviewSpec": "resourceAttributes=1 nonResourceAttributes=2",
    "SelfSubjectRulesReview": "metadata=1 spec=2 status=3",
    "SelfSubjectRulesReviewSpec": "namespace=1",
    "SubjectAccessReview": "metadata=1 spec=2 status=3",
    "SubjectAccessReviewSpec": (
        "resourceAttributes=1 nonResourceAttributes=2 user=3 groups=4 extra=5 uid=6"
    ),
    "SubjectAccessReviewStatus": "allowed=1 reason=2 evaluationError=3 denied=4",
    "SubjectRulesReviewStatus": "resourceRules=1 nonResourceRules=2 incomplete=3 evaluationError=4",
}

AUTHENTICATION = {
    "BoundObjectReference": "kind=1 apiVersion=2 name=3 uid=4",
    "SelfSubjectReview": "metadata=1 status=2",
    "SelfSubjectReviewStatus": "userInfo=1",
    "TokenRequest": "metadata=1 spec=2 status=3",
    "TokenRequestSpec": "audiences=1 boundObjectRef=3 expirationSeconds=4 attestations=5",
    "TokenRequestStatus": "token=1 expirationTimestamp=2",
    "TokenReview": "metadata=1 spec=2 status=3",
    "TokenReviewSpec": "token=1 audiences=2",
    "TokenReviewStatus": "authenticated=1 user=2 error=3 audiences=4",
    "UserInfo": "username=1 uid=2 groups=3 extra=4",
}

FLOWCONTROL = {
    "ExemptPriorityLevelConfiguration": "nominalConcurrencyShares=1 lendablePercent=2",
    "FlowDistinguisherMethod": "type=1",
    "FlowSchema": "metadata=1 spec=2 status=3",
    "FlowSchemaCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "FlowSchemaSpec": (
        "priorityLevelConfiguration=1 matchingPrecedence=2 distinguisherMethod=3 rules=4"
    ),
    "FlowSchemaStatus": "conditions=1",
    "GroupSubject": "name=1",
    "LimitResponse": "type=1 queuing=2",
    "LimitedPriorityLevelConfiguration": (
        "nominalConcurrencyShares=1 limitResponse=2 lendablePercent=3 borrowingLimitPercent=4"
    ),
    "NonResourcePolicyRule": "verbs=1 nonResourceURLs=6",
    "PolicyRulesWithSubjects": "subjects=1 resourceRules=2 nonResourceRules=3",
    "PriorityLevelConfiguration": "metadata=1 spec=2 status=3",
    "PriorityLevelConfigurationCondition": (
        "type=1 status=2 lastTransitionTime=3 reason=4 message=5"
    ),
    "PriorityLevelConfigurationReference": "name=1",
    "PriorityLevelConfigurationSpec": "type=1 limited=2 exempt=3",
    "PriorityLevelConfigurationStatus": "conditions=1",
    "QueuingConfiguration": "queues=1 handSize=2 queueLengthLimit=3",
    "ResourcePolicyRule": "verbs=1 apiGroups=2 resources=3 clusterScope=4 namespaces=5",
    "ServiceAccountSubject": "namespace=1 name=2",
    "Subject": "kind=1 user=2 group=3 serviceAccount=4",
    "UserSubject": "name=1",
}

RBAC = {
    "AggregationRule": "clusterRoleSelectors=1",
    "ClusterRole": "metadata=1 rules=2 aggregationRule=3",
    "ClusterRoleBinding": "metadata=1 subjects=2 roleRef=3",
    "PolicyRule": "verbs=1 apiGroups=2 resources=3 resourceNames=4 nonResourceURLs=5",
    "Role": "metadata=1 rules=2",
    "RoleBinding": "metadata=1 subjects=2 roleRef=3",
    "RoleRef": "apiGroup=1 kind=2 name=3",
    "Subject": "kind=1 apiGroup=2 name=3 namespace=4",
}

EVENTS = {
    "Event": (
        "metadata=1 eventTime=2 series=3 reportingController=4 reportingInstance=5 action=6 "
        "reason=7 regarding=8 related=9 note=10 type=11 deprecatedSource=12 "
        "deprecatedFirstTimestamp=13 deprecatedLastTimestamp=14 deprecatedCount=15"
    ),
    "EventSeries": "count=1 lastObservedTime=2",
}

GROUPS: tuple[tuple[ModuleType, Mapping[str, str]], ...] = (
    (core, CORE | POD_FIELDS),
    (coordination, COORDINATION),
    (apps, APPS),
    (autoscaling_v1, AUTOSCALING_V1),
    (autoscaling_v2, AUTOSCALING_V2),
    (batch, BATCH),
    (admissionregistration, ADMISSIONREGISTRATION),
    (apiextensions, APIEXTENSIONS),
    (apiregistration, APIREGISTRATION),
    (authorization, AUTHORIZATION),
    (authentication, AUTHENTICATION),
    (flowcontrol, FLOWCONTROL),
    (networking, NETWORKING),
    (policy, POLICY),
    (rbac, RBAC),
    (certificates, CERTIFICATES),
    (discovery, DISCOVERY),
    (node, NODE),
    (scheduling, SCHEDULING),
    (storage, STORAGE),
    (events, EVENTS),
    (resource, RESOURCE),
    (storagemigration, STORAGEMIGRATION),
)
TYPES = [
    pytest.param(getattr(module, name), facts[name], id=f"{module.__name__.split('.')[1]}.{name}")
    for module, facts in GROUPS
    for name in facts
]


def number(text: str) -> int | tuple[int, ...]:
    """The number of a field, or of the way to it through messages that JSON does not show."""
    found = tuple(map(int, text.split(".")))
    return found if len(found) > 1 else found[0]


def declared(cls: type[Model]) -> dict[str, object]:
    """Wire name -> number of each field, without the two that protobuf keeps in the envelope."""
    skipped = ("kind", "api_version") if issubclass(cls, TypeMeta) else ()
    return {f.wire: f.markers.proto for f in fields_of(cls) if f.name not in skipped}


@pytest.mark.parametrize(("cls", "facts"), TYPES)
def test_has_every_field_under_its_number(cls: type[Model], facts: str) -> None:
    expected = {name: number(text) for name, text in (f.split("=") for f in facts.split())}

    assert declared(cls) == expected


@pytest.mark.parametrize(("module", "facts"), GROUPS)
def test_every_exported_type_is_listed(module: ModuleType, facts: Mapping[str, str]) -> None:
    exported = set(module.__all__) - {"FieldSelectorRequirement"}  # of meta, and listed there

    assert exported == set(facts)


@pytest.mark.parametrize(("cls", "facts"), TYPES)
def test_every_type_says_what_it_is(cls: type[Model], facts: str) -> None:
    assert (cls.__doc__ or "").strip().endswith(".")
