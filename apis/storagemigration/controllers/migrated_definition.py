"""Migrated definition: what a migration reports in the definition of a custom resource.

The definition says that its objects are being migrated, and lists the versions in which objects
may be stored. After a migration that is the storage version alone, unless the definition has
changed meanwhile: objects may have been stored in another version then.
"""

from datetime import datetime
from typing import Any, Final

from apimachinery.errors import Conflict, NotFound
from apimachinery.scalars.time import format_time
from apis.apiextensions.conditions import find
from apis.apiextensions.controllers.definition_head import DefinitionHead
from apis.apiextensions.controllers.definition_names import definitions
from apis.storagemigration.v1.types import MigratedResource
from client.client import AsyncClient

MANAGER: Final = "migration-runner-controller"
MIGRATING: Final = "StorageMigrating"
ATTEMPTS: Final = 5
"""How often a definition that others change meanwhile is read again."""


class MigratedDefinitions:
    """Reports migrations in the definitions of custom resources; others have none."""

    def __init__(self, client: AsyncClient) -> None:
        self._definitions = definitions(client)

    async def begin(self, resource: MigratedResource, migration: str, now: datetime) -> None:
        """Report that a migration is running. Raises APIError."""

        def status(definition: DefinitionHead) -> dict[str, Any]:
            message = f"Migration {migration} is running"
            return {"conditions": [_condition(definition, True, "MigrationRunning", message, now)]}

        await self._apply(resource, status)

    async def finish(self, resource: MigratedResource, *, succeeded: bool, now: datetime) -> None:
        """Report that a migration has ended, and the versions that are left. Raises APIError."""

        def status(definition: DefinitionHead) -> dict[str, Any]:
            condition = find(definition, MIGRATING)
            generation = definition.metadata.generation
            unchanged = condition is not None and condition.observed_generation == generation
            # Kubernetes shortens the list also when objects could not be migrated.
            migrated = succeeded and unchanged
            reason, message = "MigrationFailed", "The migration has failed"
            if succeeded:
                reason = "MigrationSucceeded"
                outcome = (
                    "and the stored versions have been updated"
                    if migrated
                    else "but the stored versions have not been updated due to a generation"
                    " mismatch"
                )
                message = f"The migration has succeeded {outcome}"
            applied: dict[str, Any] = {
                "conditions": [_condition(definition, False, reason, message, now)]
            }
            if migrated:
                versions = definition.spec.versions
                applied["storedVersions"] = [each.name for each in versions if each.storage]
            return applied

        await self._apply(resource, status)

    async def _apply(self, resource: MigratedResource, status: Any) -> None:
        name = f"{resource.resource}.{resource.group}"
        for attempt in range(ATTEMPTS):
            try:
                definition = await self._definitions.get(name)
                document = {
                    "apiVersion": "apiextensions.k8s.io/v1",
                    "kind": "CustomResourceDefinition",
                    "metadata": {
                        "name": name,
                        # What is applied depends on the definition as it has been read.
                        "resourceVersion": definition.metadata.resource_version,
                    },
                    "status": status(definition),
                }
                await self._definitions.status.apply(document, field_manager=MANAGER, force=True)
                return
            except NotFound:
                return
            except Conflict:
                if attempt == ATTEMPTS - 1:
                    raise


def _condition(
    definition: DefinitionHead, status: bool, reason: str, message: str, now: datetime
) -> dict[str, Any]:
    return {
        "type": MIGRATING,
        "status": str(status),
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message,
        "observedGeneration": definition.metadata.generation,
    }
