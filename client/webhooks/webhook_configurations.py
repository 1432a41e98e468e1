"""Webhook configurations: what servers must know to call the webhooks of a program.

The manager writes them by server-side apply: one MutatingWebhookConfiguration, one
ValidatingWebhookConfiguration, and the conversion of each CustomResourceDefinition. If others write
them, it keeps only the CA certificates in those that lead to the program.
"""

import base64
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import NotFound
from apimachinery.mapper import NoMatch
from apimachinery.meta.types import LabelSelector
from apimachinery.meta.unstructured import Unstructured
from apimachinery.resources import guess_plural
from apimachinery.schema import GroupKind, GroupVersionKind
from client.client import AsyncClient
from client.interface import ResourceClient
from client.webhooks.admission_webhook import DefaultingWebhook, ValidatingWebhook
from client.webhooks.webhook_options import DefaulterOptions
from client.webhooks.webhook_routes import AnyAdmissionWebhook, WebhookRoutes
from client.webhooks.webhook_settings import WebhookReach, WebhookSettings

log = logging.getLogger("apimachinery.controller.webhook")

ADMISSION: Final = "admissionregistration.k8s.io/v1"
DEFINITIONS: Final = "apiextensions.k8s.io/v1"
MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
DEFINITION: Final = "CustomResourceDefinition"

_FIELDS: Final = {
    "failure_policy": "failurePolicy",
    "match_policy": "matchPolicy",
    "timeout": "timeoutSeconds",
    "reinvocation_policy": "reinvocationPolicy",
}
_SELECTORS: Final = {"namespace_selector": "namespaceSelector", "object_selector": "objectSelector"}


@dataclass(frozen=True, slots=True)
class WebhookConfigurations:
    """Writes the configurations of one program."""

    client: AsyncClient
    name: str
    """Of the configurations, and of the field manager."""
    routes: WebhookRoutes
    reach: WebhookReach
    settings: WebhookSettings

    async def apply(self, bundle: bytes = b"") -> list[Unstructured]:
        """Write everything; an empty *bundle* leaves the CA certificates to others."""
        written = []
        async for document, exists in self._documents(bundle):
            if not exists and document["kind"] == DEFINITION:
                name = document["metadata"]["name"]
                log.warning("CustomResourceDefinition %s does not exist yet", name)
            else:
                written.append(await self._client_of(document).apply(document, force=True))
        return written

    async def repair(self, bundle: bytes, authority: bytes) -> None:
        """Write what leads servers to this program without trust in *authority*.

        Caches may need the conversion of objects, and the election may need admission: both come
        before this program can lead.
        """
        async for document, exists in self._documents(bundle):
            if exists and not await self._trusts(document, authority):
                log.info("%s %s: renewing trust", document["kind"], document["metadata"]["name"])
                await self._client_of(document).apply(document, force=True)

    async def _documents(self, bundle: bytes) -> AsyncIterator[tuple[dict[str, Any], bool]]:
        """Yield documents to apply, and whether their objects exist."""
        encoded = base64.b64encode(bundle).decode()
        if not self.settings.configure:
            async for document in self._trusting_documents(encoded):
                yield document, True
            return
        for kind, cls in ((MUTATING, DefaultingWebhook), (VALIDATING, ValidatingWebhook)):
            webhooks = [hook for hook in self.routes.admission.values() if isinstance(hook, cls)]
            exists = await self._exists(kind, ADMISSION, self.name)
            if webhooks or exists:
                yield await self._configuration(kind, webhooks, encoded), exists
        for definition in await self._definitions():
            yield (
                self._conversion(definition, encoded),
                await self._exists(DEFINITION, DEFINITIONS, definition),
            )

    async def _configuration(
        self, kind: str, webhooks: Iterable[AnyAdmissionWebhook], bundle: str
    ) -> dict[str, Any]:
        metadata: dict[str, Any] = {"name": self.name}
        if self.settings.annotations:
            metadata["annotations"] = dict(self.settings.annotations)
        return {
            "apiVersion": ADMISSION,
            "kind": kind,
            "metadata": metadata,
            "webhooks": [await self._webhook(webhook, bundle) for webhook in webhooks],
        }

    async def _webhook(self, webhook: AnyAdmissionWebhook, bundle: str) -> dict[str, Any]:
        options = webhook.options
        document: dict[str, Any] = {
            "name": webhook.name,
            "clientConfig": self.reach.client_config(webhook.path, bundle),
            "rules": [await self._rule(webhook)],
            "sideEffects": options.get("side_effects", "None"),
            "admissionReviewVersions": ["v1", "v1beta1"],
        }
        document |= {wire: options[name] for name, wire in _FIELDS.items() if name in options}  # type: ignore[literal-required]
        document |= _selectors(options)
        if conditions := options.get("match_conditions"):
            document["matchConditions"] = [
                {"name": name, "expression": expression} for name, expression in conditions.items()
            ]
        return document

    async def _rule(self, webhook: AnyAdmissionWebhook) -> dict[str, Any]:
        kinds = list(webhook.forms.classes)
        plural = webhook.options.get("resource") or await self._plural(kinds[0])
        return {
            "operations": list(webhook.operations),
            "apiGroups": [kinds[0].group],
            "apiVersions": [kind.version for kind in kinds],
            "resources": [f"{plural}/{sub}" if sub else plural for sub in webhook.subresources],
            "scope": webhook.options.get("scope", "*"),
        }

    def _conversion(self, definition: str, bundle: str) -> dict[str, Any]:
        webhook = {
            "conversionReviewVersions": ["v1", "v1beta1"],
            "clientConfig": self.reach.client_config("/convert", bundle),
        }
        return {
            "apiVersion": DEFINITIONS,
            "kind": DEFINITION,
            "metadata": {"name": definition},
            "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}},
        }

    async def _trusting_documents(self, bundle: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the CA certificates of configurations that others have written for this program."""
        for kind in (MUTATING, VALIDATING):
            async for found in self.client.kind(kind, ADMISSION).list():
                ours = [
                    {"name": webhook.get("name"), "clientConfig": {"caBundle": bundle}}
                    for webhook in found.get("webhooks") or ()
                    if self.reach.path_of(webhook.get("clientConfig") or {}) in self.routes.paths
                ]
                if ours:
                    metadata = {"name": found.metadata.name}
                    yield {
                        "apiVersion": ADMISSION,
                        "kind": kind,
                        "metadata": metadata,
                        "webhooks": ours,
                    }
        for definition in await self._definitions():
            current = await self._find(DEFINITION, DEFINITIONS, definition)
            config = _conversion_config(current) if current is not None else {}
            if self.reach.path_of(config) in self.routes.paths:
                webhook = {"clientConfig": {"caBundle": bundle}}
                yield {
                    "apiVersion": DEFINITIONS,
                    "kind": DEFINITION,
                    "metadata": {"name": definition},
                    "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}},
                }

    async def _trusts(self, document: Mapping[str, Any], authority: bytes) -> bool:
        """Return whether servers trust *authority* where the stored object leads here."""
        name = document["metadata"]["name"]
        current = await self._find(document["kind"], document["apiVersion"], name)
        if current is None:
            return True
        webhooks = current.get("webhooks") or ()
        configs = [webhook.get("clientConfig") or {} for webhook in webhooks]
        configs += [config] if (config := _conversion_config(current)) else []
        return all(
            authority.strip() in base64.b64decode(config.get("caBundle") or "")
            for config in configs
            if self.reach.path_of(config)
        )

    async def _definitions(self) -> list[str]:
        """Return the names of the CustomResourceDefinitions whose objects are converted."""
        if self.routes.conversion is None:
            return []
        kinds: dict[GroupKind, GroupVersionKind] = {}
        for kind in self.routes.conversion.kinds:
            kinds.setdefault(kind.group_kind, kind)
        return [f"{await self._plural(kind)}.{kind.group}" for kind in kinds.values()]

    async def _plural(self, kind: GroupVersionKind) -> str:
        try:
            mapping = await self.client.discovery.mapping(kind)
        except NoMatch:
            return guess_plural(kind.kind)
        return mapping.resource.resource

    async def _exists(self, kind: str, api_version: str, name: str) -> bool:
        return await self._find(kind, api_version, name) is not None

    async def _find(self, kind: str, api_version: str, name: str) -> Unstructured | None:
        try:
            return await self.client.kind(kind, api_version).get(name)
        except NotFound:
            return None

    def _client_of(self, document: Mapping[str, Any]) -> ResourceClient[Unstructured]:
        resource = self.client.kind(document["kind"], document["apiVersion"])
        return resource.as_manager(f"{self.name}/webhooks")


def _selectors(options: DefaulterOptions) -> dict[str, Any]:
    selectors: dict[str, Any] = {}
    for name, wire in _SELECTORS.items():
        selector = options.get(name)
        if isinstance(selector, LabelSelector):
            selectors[wire] = orjson.loads(dump_json(selector))
        elif selector:
            selectors[wire] = selector
    return selectors


def _conversion_config(definition: Unstructured) -> Mapping[str, Any]:
    config = definition.nested("spec", "conversion", "webhook", "clientConfig")
    return config if isinstance(config, Mapping) else {}
