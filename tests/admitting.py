"""The admission that every server has, for servers that tests put together themselves."""

from apiserver.admission.plugins import Admission, AdmissionPlugin
from apiserver.controlplane.server_admission import FindStore, namespace_lifecycle


def namespace_admission(find_store: FindStore) -> Admission:
    """Return an admission that accepts no objects in missing or terminating namespaces."""
    functions = namespace_lifecycle(find_store)
    return Admission([(AdmissionPlugin("NamespaceLifecycle", lambda _: functions), functions)])
