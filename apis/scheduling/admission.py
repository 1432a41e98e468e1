"""Priority: gives pods the priority of their class, and keeps a single default class.

The deletion of a class of the system is rejected by the group itself, whatever plugins run.
"""

from typing import Final, cast

from apimachinery.schema import GroupResource
from apis.core.v1.pod import Pod
from apis.scheduling import GROUP
from apis.scheduling.system_classes import system_priority_classes
from apis.scheduling.v1 import PriorityClass
from apis.scheduling.v1.priority_class import PREEMPT_LOWER_PRIORITY
from apiserver import AdmissionPlugin, Attributes, CachedObjects, PluginFunctions, ServerParts

PODS: Final = GroupResource("", "pods")
PRIORITY_CLASSES: Final = GroupResource(GROUP, "priorityclasses")

_COMPUTED: Final = "must not be provided in pod spec; priority admission controller computed"


class Priority:
    """Sets the priority of new pods, and rejects a second default class."""

    def __init__(self, parts: ServerParts) -> None:
        self._classes = CachedObjects(parts.find_store, PRIORITY_CLASSES, PriorityClass)

    async def mutate(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if attributes.subresource or not isinstance(new, Pod):
            return
        if isinstance(old, Pod):
            _keep_priority(new, old)
        else:
            await self._set_priority(attributes, new)

    async def validate(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if not isinstance(new, PriorityClass) or not new.global_default:
            return
        default = await self._default()
        if default is None or (old is not None and default.metadata.name == new.metadata.name):
            return
        raise attributes.forbidden(
            f"PriorityClass {default.metadata.name} is already marked as default."
            " Only one default can exist"
        )

    async def _set_priority(self, attributes: Attributes, pod: Pod) -> None:
        spec, found = pod.spec, await self._class_of(attributes, pod)
        if found is None:
            value, policy = 0, cast(str | None, PREEMPT_LOWER_PRIORITY)
        else:
            spec.priority_class_name = found.metadata.name
            value, policy = found.value, found.preemption_policy
        if spec.priority not in (None, value):
            raise attributes.forbidden(
                f"the integer value of priority ({spec.priority}) {_COMPUTED} {value} from the"
                " given PriorityClass name"
            )
        spec.priority = value
        if policy is None:
            return
        if spec.preemption_policy not in (None, policy):
            raise attributes.forbidden(
                f"the string value of PreemptionPolicy ({spec.preemption_policy}) {_COMPUTED}"
                f" {policy} from the given PriorityClass name"
            )
        spec.preemption_policy = policy

    async def _class_of(self, attributes: Attributes, pod: Pod) -> PriorityClass | None:
        """Return the class of a pod, None if it names none and there is no default."""
        name = pod.spec.priority_class_name
        if not name:
            return await self._default()
        found = await self._classes.find(name)
        if found is None:
            raise attributes.forbidden(f"no PriorityClass with name {name} was found")
        return found

    async def _default(self) -> PriorityClass | None:
        """Return the default class; of several, the one with the lowest value."""
        defaults = (found for found in await self._classes.all() if found.global_default)
        return min(defaults, key=lambda found: found.value, default=None)


def _keep_priority(new: Pod, old: Pod) -> None:
    """Keep what clients leave out that do not know these fields."""
    if new.spec.priority is None:
        new.spec.priority = old.spec.priority
    if new.spec.preemption_policy is None:
        new.spec.preemption_policy = old.spec.preemption_policy


def keep_system_classes(attributes: Attributes) -> None:
    """Reject the deletion of a system class."""
    # As in Kubernetes, the deletion of all classes does not spare them.
    if attributes.context.verb != "delete":
        return
    if attributes.name in (known.metadata.name for known in system_priority_classes()):
        raise attributes.forbidden("this is a system priority class and cannot be deleted")


def _build(parts: ServerParts) -> PluginFunctions:
    priority = Priority(parts)
    return PluginFunctions(priority.mutate, priority.validate)


PRIORITY: Final = AdmissionPlugin("Priority", _build, frozenset((PODS, PRIORITY_CLASSES)))
