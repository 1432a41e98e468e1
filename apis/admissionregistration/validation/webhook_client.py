"""Validation of the connection to a webhook."""

from collections.abc import Iterator
from typing import Final, Protocol

from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apimachinery.names import is_dns1123_subdomain, is_port_number
from apimachinery.urls import MalformedURL, parse_url
from apis.admissionregistration.v1 import WebhookClientConfig


class WebhookServiceReference(Protocol):
    """The reference to a Service in one of the groups that have webhooks."""

    namespace: str
    name: str
    path: str | None
    port: int | None


_FORM: Final = "; desired format: https://host[/path]"


def validate_client_config(config: WebhookClientConfig, path: Path) -> FieldErrors:
    if (config.url is None) == (config.service is None):
        yield required(path, "exactly one of url or service is required")
    elif config.url is not None:
        yield from validate_webhook_url(config.url, path.child("url"))
    elif config.service is not None:
        yield from validate_webhook_service(config.service, path.child("service"))


def validate_webhook_url(text: str, path: Path) -> FieldErrors:
    try:
        url = parse_url(text)
    except MalformedURL as error:
        yield required(path, f"url must be a valid URL: {error}{_FORM}")
        return
    if url.scheme != "https":
        yield invalid(path, url.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    if not url.host:
        yield invalid(path, url.host, f"host must be specified{_FORM}")
    if url.user is not None:
        yield invalid(path, url.user, "user information is not permitted in the URL")
    if url.fragment:
        yield invalid(path, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield invalid(path, url.query, "query parameters are not permitted in the URL")


def validate_webhook_service(service: WebhookServiceReference, path: Path) -> FieldErrors:
    """Validate the Service of a webhook, of whatever group."""
    # The fields are reported under each other's name: as Kubernetes has it.
    if not service.namespace:
        yield required(path.child("name"))
    if not service.name:
        yield required(path.child("namespace"))
    port = service.port or 0
    if problems := is_port_number(port):
        yield invalid(path.child("port"), port, f"port is not valid: {', '.join(problems)}")
    if service.path is not None:
        for problem in _path_problems(service.path):
            yield invalid(path.child("path"), service.path, problem)


def _path_problems(text: str) -> Iterator[str]:
    if text in ("", "/"):
        return
    if text == "//":
        yield "segment[0] may not be empty"
        return
    if not text.startswith("/"):
        yield "must start with a '/'"
    for position, step in enumerate(text[1:].removesuffix("/").split("/")):
        if not step:
            yield f"segment[{position}] may not be empty"
            continue
        for problem in is_dns1123_subdomain(step):
            yield f"segment[{position}]: {problem}"
