"""WebhookAdmissionConfiguration: names the kubeconfig whose credentials are sent to webhooks.

Both webhook plugins declare this kind, each with a document of its own. The composition reads the
kubeconfig and gives its users to the caller of webhooks.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from apimachinery.fieldpath import FieldError, Path, forbidden, invalid
from apimachinery.meta.types import TypeMeta
from apimachinery.model.model import field
from apiserver.admission.configuration import GROUP, ConfigurationKind

WEBHOOK_PLUGINS: Final = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")


class WebhookAdmission(TypeMeta):
    """The configuration of a webhook plugin."""

    kube_config_file: str = field("", doc="The absolute path of a kubeconfig.")
    static_manifests_dir: str = field("", doc="A folder of webhook configurations.")


def _validate(configuration: WebhookAdmission) -> Iterator[FieldError]:
    file = configuration.kube_config_file
    if file and not PurePath(file).is_absolute():
        yield invalid(Path("kubeConfigFile"), file, "must be an absolute file path")
    if configuration.static_manifests_dir:
        yield forbidden(
            Path("staticManifestsDir"),
            "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to"
            " be enabled",
        )


WEBHOOK_ADMISSION: Final = ConfigurationKind(
    WebhookAdmission, "WebhookAdmissionConfiguration", (f"{GROUP}/v1",), _validate
)
