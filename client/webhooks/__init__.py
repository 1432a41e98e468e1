"""Webhooks: admission and conversion webhooks of a program, beside its controllers.

    manager = Manager(client, name="orders", webhooks=WebhookSettings(service="orders-webhooks"))

    @manager.defaulter(v1.Order)
    def set_defaults(order: v1.Order) -> None: ...

    @manager.validator(v1.Order)
    def validate(order: v1.Order) -> FieldErrors: ...

    manager.converter(v1alpha1.Order, v1.Order)

The tour: `Webhooks` registers functions; `DefaultingWebhook`, `ValidatingWebhook` and
`ConversionWebhook` turn reviews into calls of them; `WebhookRoutes` answers requests by path, and
`WebhookServer` receives them over HTTPS. `WebhookServing` adds the certificates
(`WebhookAuthority`, `CertificateFolder`) and `WebhookConfigurations`, which tell servers.
"""

from client.webhooks.admission_request import AdmissionRequest
from client.webhooks.review_documents import CONNECT, CREATE, DELETE, UPDATE, UserInfo
from client.webhooks.webhook_options import DefaulterOptions, Selector, WebhookOptions
from client.webhooks.webhook_settings import InvalidWebhookSettings, WebhookSettings
from client.webhooks.webhooks import Webhooks

__all__ = [
    "CONNECT",
    "CREATE",
    "DELETE",
    "UPDATE",
    "AdmissionRequest",
    "DefaulterOptions",
    "InvalidWebhookSettings",
    "Selector",
    "UserInfo",
    "WebhookOptions",
    "WebhookSettings",
    "Webhooks",
]
