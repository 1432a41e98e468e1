"""The plugin PodSecurity, as the core group describes it."""

from collections.abc import Mapping
from typing import Final

from apimachinery.schema import GroupResource
from apis.core.pod_security.configuration import CONFIGURATION, PodSecurityConfiguration
from apiserver import ServerParts
from apiserver.admission.chain import Plugin
from apiserver.admission.first_use import MadeOnFirstUse
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions

NAME: Final = "PodSecurity"
NAMESPACES: Final = GroupResource("", "namespaces")
PODS: Final = GroupResource("", "pods")

TEMPLATES: Final[Mapping[GroupResource, str]] = {
    GroupResource("", "podtemplates"): "template",
    GroupResource("", "replicationcontrollers"): "spec.template",
    GroupResource("apps", "daemonsets"): "spec.template",
    GroupResource("apps", "deployments"): "spec.template",
    GroupResource("apps", "replicasets"): "spec.template",
    GroupResource("apps", "statefulsets"): "spec.template",
    GroupResource("batch", "cronjobs"): "spec.job_template.spec.template",
    GroupResource("batch", "jobs"): "spec.template",
}
"""Where the objects of other resources have the template of their pods."""


def build(parts: ServerParts) -> PluginFunctions:
    """Return the functions of the plugin for one server."""
    configuration = parts.admission_configuration.of(NAME, CONFIGURATION)

    def make() -> Plugin:
        from apis.core.pod_security.admission import PodSecurity

        return PodSecurity(parts, configuration or PodSecurityConfiguration())

    return PluginFunctions(validate=MadeOnFirstUse(make))


POD_SECURITY: Final = AdmissionPlugin(
    NAME,
    build,
    resources=frozenset((NAMESPACES, PODS, *TEMPLATES)),
    configuration=CONFIGURATION,
)
