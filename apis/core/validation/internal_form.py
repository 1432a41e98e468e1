"""Objects as Kubernetes' error messages show them: the JSON form of its internal structs.

Internal structs have no JSON tags, so every field appears, unset ones as null, under the name that
it has in Kubernetes' source. Our classes declare the fields in the same order, and most names
follow from those on the wire. Types of the metadata package have tags, and look as on the wire.
"""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.fieldpath import GoStruct
from apimachinery.meta.types import LabelSelector, ObjectMeta
from apimachinery.model.model import Model
from apimachinery.scalars.quantity import Quantity

# Names on the wire whose first letter is not the only difference.
_NAMES: Final[Mapping[str, str]] = {
    "apiGroup": "APIGroup",
    "apiVersion": "APIVersion",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "cephfs": "CephFS",
    "chapAuthDiscovery": "DiscoveryCHAPAuth",
    "chapAuthSession": "SessionCHAPAuth",
    "csi": "CSI",
    "diskURI": "DataDiskURI",
    "dnsConfig": "DNSConfig",
    "dnsPolicy": "DNSPolicy",
    "endpoints": "EndpointsName",
    "fc": "FC",
    "fsGroup": "FSGroup",
    "fsGroupChangePolicy": "FSGroupChangePolicy",
    "fsType": "FSType",
    "gcePersistentDisk": "GCEPersistentDisk",
    "gmsaCredentialSpec": "GMSACredentialSpec",
    "gmsaCredentialSpecName": "GMSACredentialSpecName",
    "grpc": "GRPC",
    "httpGet": "HTTPGet",
    "httpHeaders": "HTTPHeaders",
    "ip": "IP",
    "iqn": "IQN",
    "iscsi": "ISCSI",
    "iscsiInterface": "ISCSIInterface",
    "nfs": "NFS",
    "os": "OS",
    "pdName": "PDName",
    "rbd": "RBD",
    "seLinuxChangePolicy": "SELinuxChangePolicy",
    "seLinuxOptions": "SELinuxOptions",
    "serviceAccount": "DeprecatedServiceAccount",
    "sslEnabled": "SSLEnabled",
    "storageos": "StorageOS",
    "tcpSocket": "TCPSocket",
    "tty": "TTY",
    "uid": "UID",
    "wwids": "WWIDs",
}
_RBD_NAMES: Final = {
    "monitors": "CephMonitors",
    "image": "RBDImage",
    "pool": "RBDPool",
    "user": "RadosUser",
}


def internal_form(value: Any) -> Any:
    """Return *value* with each model as the struct that Kubernetes shows for it."""
    match value:
        case LabelSelector() | ObjectMeta():
            return value.model_dump(by_alias=True, mode="json")
        case Model():
            return _struct(value)
        case Quantity():
            return str(value)
        case list():
            return [internal_form(item) for item in value]
        case dict():
            return {key: internal_form(value[key]) for key in sorted(value)}
        case _:
            return value


def _struct(model: Model) -> GoStruct:
    special = _RBD_NAMES if type(model).__name__ == "RBDVolumeSource" else _NAMES
    fields = GoStruct()
    for name, info in type(model).model_fields.items():
        wire, value = info.alias or name, getattr(model, name)
        if isinstance(value, ObjectMeta):
            # Metadata are embedded: their fields are those of the struct itself.
            fields.update(internal_form(value))
            continue
        if value in ([], {}) and name not in model.model_fields_set:
            # A list or map that no document has set is nil.
            value = None
        field = special.get(wire) or _NAMES.get(wire) or wire[:1].upper() + wire[1:]
        fields[field] = internal_form(value)
    return fields
