"""The fields of apiregistration.k8s.io with their numbers."""

APIREGISTRATION = {
    "APIService": "metadata=1 spec=2 status=3",
    "APIServiceCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "APIServiceSpec": (
        "service=1 group=2 version=3 insecureSkipTLSVerify=4 caBundle=5 "
        "groupPriorityMinimum=7 versionPriority=8"
    ),
    "APIServiceStatus": "conditions=1",
    "ServiceReference": "namespace=1 name=2 port=3",
}
