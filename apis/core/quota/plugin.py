"""The plugin ResourceQuota, as the core group describes it."""

from typing import Final

from apis.core.quota.configuration import CONFIGURATION
from apiserver import ServerParts
from apiserver.admission.chain import Plugin
from apiserver.admission.first_use import MadeOnFirstUse
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions

NAME: Final = "ResourceQuota"


def build(parts: ServerParts) -> PluginFunctions:
    """Return the function of the plugin for one server."""
    configuration = parts.admission_configuration.of(NAME, CONFIGURATION)
    limited = configuration.limited_resources if configuration is not None else ()

    def make() -> Plugin:
        from apis.core.quota.admission import QuotaAdmission

        return QuotaAdmission(parts, limited)

    return PluginFunctions(validate=MadeOnFirstUse(make))


RESOURCE_QUOTA: Final = AdmissionPlugin(NAME, build, configuration=CONFIGURATION)
