"""Webhooks: registers the functions that review and convert the objects of a cluster.

    webhooks = Webhooks(client.scheme)

    @webhooks.defaulter(v1.Order)
    def set_defaults(order: v1.Order) -> None: ...

    @webhooks.validator(v1.Order, operations=["CREATE", "UPDATE"])
    def validate(order: v1.Order, request: AdmissionRequest[v1.Order]) -> FieldErrors: ...

    webhooks.converter(v1alpha1.Order, v1.Order)

A manager has one (`Manager.webhooks`) and offers the same decorators.
"""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, Unpack, cast

from apimachinery.meta.types import Object
from apimachinery.scheme import Scheme
from client.monitoring.controller_metrics import MetricsSink, NoMetricsSink
from client.webhooks.admission_request import AddDefaulter, AddValidator
from client.webhooks.admission_webhook import DefaultingWebhook, ValidatingWebhook
from client.webhooks.conversion_webhook import ConversionWebhook
from client.webhooks.object_forms import ObjectForms, versions_of
from client.webhooks.webhook_options import DefaulterOptions, WebhookOptions
from client.webhooks.webhook_routes import WebhookRoutes

T = TypeVar("T", bound=Object)


class ServesWebhooks(Protocol):
    """Offers the webhooks of a manager to servers."""

    @property
    def port(self) -> int: ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def check_alive(self) -> None:
        """Raise an exception if the program must be restarted."""

    def check_ready(self) -> None:
        """Raise an exception if calls would fail."""

    async def keep_certificates(self) -> None:
        """Run in every replica until it is cancelled."""

    async def keep_configurations(self) -> None:
        """Run in the leader until it is cancelled."""


class Webhooks:
    """The webhooks of one program, for the classes of one scheme."""

    def __init__(self, scheme: Scheme, *, metrics: MetricsSink | None = None) -> None:
        self.routes = WebhookRoutes(metrics or NoMetricsSink())
        self._scheme = scheme

    def defaulter(self, cls: type[T], **options: Unpack[DefaulterOptions]) -> AddDefaulter[T]:
        """Decorate a function that changes objects before they are validated and stored.

        The object has the defaults of its class, and those that the scheme has for its version.
        *cls* is the class of a version, or the internal class: then the webhook is called for
        every version. Raises NotRegistered if the scheme does not have the class, ValueError if
        another webhook has its path or name.
        """
        forms = ObjectForms(self._scheme, cls)

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.routes.add(DefaultingWebhook(forms, function, options))
            return function

        return cast(AddDefaulter[T], add)

    def validator(self, cls: type[T], **options: Unpack[WebhookOptions]) -> AddValidator[T]:
        """Decorate a function that yields the errors of objects, or raises an APIError.

        For *cls* and errors see `defaulter`. If DELETE is among the operations, the function gets
        the object that is deleted.
        """
        forms = ObjectForms(self._scheme, cls)

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.routes.add(ValidatingWebhook(forms, function, cast(DefaulterOptions, options)))
            return function

        return cast(AddValidator[T], add)

    def converter(self, *classes: type[Object]) -> None:
        """Convert custom resources between versions, by the conversions of the scheme.

        *classes* are those of the versions of one kind, or the internal class for all of them. May
        be called for several kinds. Raises NotRegistered, UnknownConversion, and ValueError unless
        there are several versions of one kind.
        """
        converter = self.routes.conversion or ConversionWebhook(self._scheme)
        versions = {}
        for cls in classes:
            versions.update(versions_of(self._scheme, cls))
        converter.add(versions)
        self.routes.set_converter(converter)
