"""Registration of storagemigration.k8s.io, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.storagemigration import GROUP, v1


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), v1.StorageVersionMigration, internal=True)
