"""The fields of resource.k8s.io with their numbers."""

RESOURCE = {
    "AllocatedDeviceStatus": (
        "driver=1 pool=2 device=3 conditions=4 data=5 networkData=6 shareID=7"
    ),
    "AllocationResult": "devices=1 nodeSelector=3 allocationTimestamp=5",
    "CELDeviceSelector": "expression=1",
    "CapacityRequestPolicy": "default=1 validValues=3 validRange=4",
    "CapacityRequestPolicyRange": "min=1 max=2 step=3",
    "CapacityRequirements": "requests=1",
    "Counter": "value=1",
    "CounterSet": "name=1 counters=2",
    "Device": (
        "name=1 attributes=2 capacity=3 consumesCounters=4 nodeName=5 nodeSelector=6 "
        "allNodes=7 taints=8 bindsToNode=9 bindingConditions=10 bindingFailureConditions=11 "
        "allowMultipleAllocations=12 nodeAllocatableResources=14"
    ),
    "DeviceAllocationConfiguration": "source=1 requests=2 opaque=3.1",
    "DeviceAllocationResult": "results=1 config=2",
    "DeviceAttribute": "int=2 bool=3 string=4 version=5 ints=6 bools=7 strings=8 versions=9",
    "DeviceCapacity": "value=1 requestPolicy=2",
    "DeviceClaim": "requests=1 constraints=2 config=3",
    "DeviceClaimConfiguration": "requests=1 opaque=2.1",
    "DeviceClass": "metadata=1 spec=2",
    "DeviceClassConfiguration": "opaque=1.1",
    "DeviceClassSpec": "selectors=1 config=2 extendedResourceName=4",
    "DeviceConstraint": "requests=1 matchAttribute=2 distinctAttribute=3",
    "DeviceCounterConsumption": "counterSet=1 counters=2 compatibilityGroups=3",
    "DeviceDerivedAttribute": "name=1 expression=2",
    "DeviceRequest": "name=1 exactly=2 firstAvailable=3",
    "DeviceRequestAllocationResult": (
        "request=1 driver=2 pool=3 device=4 adminAccess=5 tolerations=6 bindingConditions=7 "
        "bindingFailureConditions=8 shareID=9 consumedCapacity=10 skipNodeOperations=11"
    ),
    "DeviceSelector": "cel=1",
    "DeviceSubRequest": (
        "name=1 deviceClassName=2 selectors=3 allocationMode=4 count=5 tolerations=6 "
        "capacity=7 derivedAttributes=8"
    ),
    "DeviceTaint": "key=1 value=2 effect=3 timeAdded=4",
    "DeviceTaintRule": "metadata=1 spec=2 status=3",
    "DeviceTaintRuleSpec": "deviceSelector=1 taint=2",
    "DeviceTaintRuleStatus": "conditions=1",
    "DeviceTaintSelector": "driver=2 pool=3 device=4",
    "DeviceToleration": "key=1 operator=2 value=3 effect=4 tolerationSeconds=5",
    "ExactDeviceRequest": (
        "deviceClassName=1 selectors=2 allocationMode=3 count=4 adminAccess=5 tolerations=6 "
        "capacity=7 derivedAttributes=8"
    ),
    "NetworkDeviceData": "interfaceName=1 ips=2 hardwareAddress=3",
    "NodeAllocatableMapping": "capacityKey=1 capacityMultiplier=2 deviceMultiplier=3",
    "NodeAllocatableOverhead": "perPod=1 perContainer=2",
    "NodeAllocatableResource": "mapping=3 overhead=4",
    "OpaqueDeviceConfiguration": "driver=1 parameters=2",
    "ResourceClaim": "metadata=1 spec=2 status=3",
    "ResourceClaimConsumerReference": "apiGroup=1 resource=3 name=4 uid=5",
    "ResourceClaimSpec": "devices=1",
    "ResourceClaimStatus": "allocation=1 reservedFor=2 devices=4",
    "ResourceClaimTemplate": "metadata=1 spec=2",
    "ResourceClaimTemplateSpec": "metadata=1 spec=2",
    "ResourcePool": "name=1 generation=2 resourceSliceCount=3",
    "ResourceSlice": "metadata=1 spec=2",
    "ResourceSliceSpec": (
        "driver=1 pool=2 nodeName=3 nodeSelector=4 allNodes=5 devices=6 "
        "perDeviceNodeSelection=7 sharedCounters=8 partitionTypeAttribute=9 "
        "skipNodeOperations=10"
    ),
}
