"""Every field of networking.k8s.io/v1 with its protobuf number."""

NETWORKING = {
    "IPAddress": "metadata=1 spec=2",
    "IPAddressSpec": "parentRef=1",
    "ParentReference": "group=1 resource=2 namespace=3 name=4",
    "ServiceCIDR": "metadata=1 spec=2 status=3",
    "ServiceCIDRSpec": "cidrs=1",
    "ServiceCIDRStatus": "conditions=1",
}
