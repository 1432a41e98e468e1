"""Registration of apps/v1, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.apps import GROUP, v1
from apis.apps.v1 import defaults
from apis.core.v1.defaults.persistent_volumes import set_persistent_volume_claim_defaults
from apis.core.v1.defaults.pod import POD_DEFAULTS


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"),
        v1.ControllerRevision,
        v1.DaemonSet,
        v1.Deployment,
        v1.ReplicaSet,
        v1.StatefulSet,
        internal=True,
    )
    scheme.add_defaults(
        *POD_DEFAULTS,
        defaults.set_claim_retention_defaults,
        defaults.set_daemon_set_defaults,
        defaults.set_daemon_set_spec_defaults,
        defaults.set_deployment_spec_defaults,
        defaults.set_replica_set_spec_defaults,
        defaults.set_stateful_set_spec_defaults,
        set_persistent_volume_claim_defaults,
    )
