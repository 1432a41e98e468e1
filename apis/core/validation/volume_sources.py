"""Validation of volume sources that pods and persistent volumes share.

Each function validates one source; `apis.core.validation.pod.volumes` chooses among them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.names import byte_length, is_dns1123_label, is_dns1123_subdomain, is_in_range
from apis.core.v1.cloud_volume_sources import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    GCEPersistentDiskVolumeSource,
)
from apis.core.v1.network_volume_sources import (
    FCVolumeSource,
    FlockerVolumeSource,
    NFSVolumeSource,
    QuobyteVolumeSource,
)
from apis.core.v1.volume_sources import HostPathVolumeSource
from apis.core.validation.paths import validate_path_without_backsteps

CSI_DRIVER_NAME_MAX: Final = 63
ISCSI_ADDRESS_MAX: Final = 64

_HOST_PATH_TYPES: Final = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_CACHING_MODES: Final = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS: Final = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}"
    "/providers/microsoft.compute/disks/{disk-id}"
)
_BLOB_DISK: Final = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_PARTITION_RULE: Final = "must be between 1 and 255, inclusive"
_HOST_PORTS_RULE: Final = "must be a host:port pair or multiple pairs separated by commas"
_TENANT_MAX: Final = 64
_RESERVED_DOMAINS: Final = (".kubernetes.io", ".k8s.io")
# In front of the date, anything may stand; names of the other two forms are matched whole.
_IQN: Final = re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z", re.ASCII)
_EUI: Final = re.compile(r"eui.[A-Za-z0-9]{16}")
_NAA: Final = re.compile(r"naa.[A-Za-z0-9]{32}")
_ISCSI_NAME_MAX: Final = 8192


def validate_host_path(source: HostPathVolumeSource, path: Path) -> FieldErrors:
    if not source.path:
        yield required(path.child("path"))
        return
    yield from validate_path_without_backsteps(source.path, path.child("path"))
    if source.type is not None and source.type not in _HOST_PATH_TYPES:
        yield not_supported(path.child("type"), source.type, _HOST_PATH_TYPES)


def validate_gce_disk(source: GCEPersistentDiskVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"pdName": source.pd_name}, path)
    yield from _validate_partition(source.partition, path.child("partition"))


def validate_aws_disk(source: AWSElasticBlockStoreVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"volumeID": source.volume_id}, path)
    yield from _validate_partition(source.partition, path.child("partition"))


def validate_nfs(source: NFSVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"server": source.server, "path": source.path}, path)
    if not source.path.startswith("/"):
        yield invalid(path.child("path"), source.path, "must be an absolute path")


def validate_fc(source: FCVolumeSource, path: Path) -> FieldErrors:
    names = path.child("targetWWNs")
    if not source.target_wwns and not source.wwids:
        yield required(names, "must specify either targetWWNs or wwids, but not both")
    if not source.target_wwns:
        return
    if source.wwids:
        rule = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid(names, source.target_wwns, rule)
    if source.lun is None:
        yield required(path.child("lun"), "lun is required if targetWWNs is specified")
    else:
        yield from validate_lun(source.lun, path.child("lun"))


def validate_quobyte(source: QuobyteVolumeSource, path: Path) -> FieldErrors:
    registry = path.child("registry")
    if not source.registry:
        yield required(registry, _HOST_PORTS_RULE)
    elif byte_length(source.tenant) > _TENANT_MAX:
        rule = "must be a UUID and may not exceed a length of 64 characters"
        yield required(path.child("tenant"), rule)
    else:
        for pair in source.registry.split(","):
            if not _is_host_and_port(pair):
                yield invalid(registry, source.registry, _HOST_PORTS_RULE)
    yield from validate_required_texts({"volume": source.volume}, path)


def validate_flocker(source: FlockerVolumeSource, path: Path) -> FieldErrors:
    if not source.dataset_name and not source.dataset_uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if source.dataset_name and source.dataset_uuid:
        rule = "datasetName and datasetUUID can not be specified simultaneously"
        yield invalid(path, "resource", rule)
    if "/" in source.dataset_name:
        yield invalid(path.child("datasetName"), source.dataset_name, "must not contain '/'")


def validate_azure_disk(source: AzureDiskVolumeSource, path: Path) -> FieldErrors:
    uri = source.disk_uri
    yield from validate_required_texts({"diskName": source.disk_name, "diskURI": uri}, path)
    if source.caching_mode is not None and source.caching_mode not in _CACHING_MODES:
        yield not_supported(path.child("cachingMode"), source.caching_mode, _CACHING_MODES)
    if source.kind is None:
        return
    if source.kind not in _DISK_KINDS:
        yield not_supported(path.child("kind"), source.kind, _DISK_KINDS)
    managed = source.kind == "Managed"
    if not uri.startswith("/subscriptions/" if managed else "https://"):
        yield not_supported(path.child("diskURI"), uri, (_MANAGED_DISK if managed else _BLOB_DISK,))


def validate_flex_options(driver: str, options: Mapping[str, str], path: Path) -> FieldErrors:
    """Validate that a flex volume has a driver, and no options with Kubernetes' own prefixes."""
    yield from validate_required_texts({"driver": driver}, path)
    for key in sorted(options):
        domain = key.partition("/")[0].lower()
        if f".{domain}".endswith(_RESERVED_DOMAINS):
            rule = "kubernetes.io and k8s.io namespaces are reserved"
            yield invalid(path.child("options").key(key), key, rule)


def validate_storage_os_names(name: str, namespace: str, path: Path) -> FieldErrors:
    yield from validate_required_texts({"volumeName": name}, path)
    for error in is_dns1123_label(name) if name else ():
        yield invalid(path.child("volumeName"), name, error)
    for error in is_dns1123_label(namespace) if namespace else ():
        yield invalid(path.child("volumeNamespace"), namespace, error)


def validate_csi_driver_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    if byte_length(name) > CSI_DRIVER_NAME_MAX:
        yield too_long(path, CSI_DRIVER_NAME_MAX)
    for error in is_dns1123_subdomain(name.lower()):
        yield invalid(path, name, error)


def validate_iscsi_name(name: str, path: Path, *, prefix_rule: str) -> FieldErrors:
    """Validate the name of an iSCSI target or initiator; *prefix_rule* is about its start."""
    forms = {"iqn": _IQN.search, "eui": _EUI.fullmatch, "naa": _NAA.fullmatch}
    form = forms.get(name[:3])
    if form is None:
        yield invalid(path, name, prefix_rule)
    elif len(name) > _ISCSI_NAME_MAX or not form(name):
        yield invalid(path, name, "must be valid format")


def validate_lun(lun: int, path: Path) -> FieldErrors:
    for error in is_in_range(lun, 0, 255):
        yield invalid(path, lun, error)


def validate_required_texts(texts: Mapping[str, str | Sequence[str]], path: Path) -> FieldErrors:
    """Validate that strings or lists, by the names of their fields, are not empty."""
    for wire, value in texts.items():
        if not value:
            yield required(path.child(wire))


def _validate_partition(partition: int, path: Path) -> FieldErrors:
    if not 0 <= partition <= 255:
        # As in Kubernetes, the message does not mention zero, which stands for the whole disk.
        yield invalid(path, partition, _PARTITION_RULE)


def _is_host_and_port(pair: str) -> bool:
    """Return whether a text is `host:port` by the rules of Go's `net.SplitHostPort`."""
    host, colon, _ = pair.rpartition(":")
    if not colon:
        return False
    if host.startswith("["):
        return host.endswith("]") and not set("[]") & set(host[1:-1]) and pair.find("]") > 0
    return ":" not in host and not set("[]") & set(pair)
