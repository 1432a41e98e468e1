"""Eviction: the deletion of a pod that its PodDisruptionBudget allows.

An Eviction is created at the subresource `eviction` of a pod, and not stored. The status of the
budget counts how many more pods may be disrupted; every eviction takes one, in one write with its
check, so that two evictions cannot both take the last. A client that is refused retries later.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NoReturn

from apimachinery.errors import APIError, BadRequest, Conflict, Forbidden, Invalid, TooManyRequests
from apimachinery.fieldpath import Path, invalid
from apimachinery.meta.conditions import condition, find_condition, set_condition
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.status import Status, StatusCause
from apimachinery.meta.types import Preconditions
from apimachinery.scalars.time import now as present
from apimachinery.schema import GroupResource, GroupVersionKind, GroupVersionResource
from apimachinery.selectors.label_selector import from_label_selector
from apis.core import GROUP
from apis.core.strategy.pod import FINISHED, POD
from apis.core.strategy.pod_preparation import PENDING, set_pod_condition
from apis.core.v1.pod import Pod
from apis.core.v1.pod_status import PodCondition
from apis.policy.v1 import Eviction, PodDisruptionBudget
from apis.policy.v1.types import ALWAYS_ALLOW, DISRUPTION_ALLOWED, DISRUPTION_BUDGET_CAUSE
from apiserver import RequestContext, ServerParts
from apiserver.admission.chain import NO_ADMISSION
from apiserver.context import context_for
from apiserver.registry.deletion import check_delete_preconditions
from apiserver.storage.cache.entry import EntrySelection

KIND: Final = GroupVersionKind("policy", "v1", "Eviction")
PODS: Final = GroupResource(GROUP, "pods")
BUDGETS: Final = GroupVersionResource("policy", "v1", "poddisruptionbudgets")

MAX_DISRUPTED_PODS: Final = 2000
"""The maximum number of evictions that a budget has to confirm."""
ATTEMPTS: Final = 20
"""How often the deletion of a changing pod is tried."""
RETRY_SECONDS: Final = 10

_VIOLATION: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
    " support."
)


class PodEviction:
    """Evicts pods."""

    def __init__(self, parts: ServerParts, *, now: Callable[[], datetime] = present) -> None:
        self._find_store = parts.find_store
        self._now = now

    async def __call__(self, context: RequestContext, pod: Pod, eviction: Eviction) -> Status:
        """Handle a POST to the subresource of *pod*: delete it, if its budget allows that.

        Raises BadRequest, Invalid or Conflict for a request that cannot be granted, and
        TooManyRequests or Forbidden if the budget does not allow it.
        """
        options = _options(context, pod, eviction)
        if _is_undisrupted(pod):
            await self._delete_unbudgeted(context, pod, options)
        else:
            await self._delete_budgeted(context, pod, options)
        return Status(kind="Status", api_version="v1", status="Success", code=201)

    async def _delete_unbudgeted(
        self, context: RequestContext, pod: Pod, options: DeleteOptions
    ) -> None:
        """Delete a pod that does not run, unless it starts to run meanwhile."""
        name, namespace = pod.metadata.name, pod.metadata.namespace
        for attempt in range(ATTEMPTS):
            try:
                await self._delete(context, _at_version(pod, options), pod)
                return
            except Conflict:
                if _has_version(options) or attempt == ATTEMPTS - 1:
                    raise
            pod = await self._pods.read(name, namespace=namespace)
            if not _is_undisrupted(pod):
                await self._delete_budgeted(context, pod, options)
                return

    async def _delete_budgeted(
        self, context: RequestContext, pod: Pod, options: DeleteOptions
    ) -> None:
        """Delete a running pod if its budget allows it, and count it there."""
        budgets = await self._budgets_of(pod)
        if len(budgets) > 1:
            raise APIError(_SEVERAL)
        if not budgets:
            await self._delete(context, options, pod)
        elif _may_go_unhealthy(pod, budgets[0]):
            try:
                # Only while it is not healthy: the budget has not counted its disruption.
                await self._delete(context, _with_version(pod, options), pod)
            except Conflict:
                if _has_version(options):
                    raise
                raise _still_processed(budgets[0].metadata.name) from None
        else:
            await self._take_disruption(budgets[0], pod, dry_run=bool(options.dry_run))
            await self._delete(context, options, pod)

    async def _budgets_of(self, pod: Pod) -> list[PodDisruptionBudget]:
        try:
            store = self._find_store(BUDGETS.group_resource)
        except KeyError:
            return []
        entries = (await store.list(EntrySelection(namespace=pod.metadata.namespace))).entries
        return [budget for entry in entries if _protects(budget := store.decode(entry), pod)]

    async def _take_disruption(
        self, budget: PodDisruptionBudget, pod: Pod, *, dry_run: bool
    ) -> None:
        def taken(current: PodDisruptionBudget) -> PodDisruptionBudget:
            _check_budget(current)
            return _with_disruption(current, pod.metadata.name, self._now())

        if dry_run:
            taken(budget)
            return
        name = budget.metadata.name
        context = context_for(
            "update", BUDGETS, subresource="status", namespace=pod.metadata.namespace, name=name
        )
        store = self._find_store(BUDGETS.group_resource)
        await store.update(name, taken, context)

    async def _delete(self, context: RequestContext, options: DeleteOptions, pod: Pod) -> None:
        """Delete the pod, after a condition has told why."""
        context = replace(context, verb="delete", subresource="")
        if not options.dry_run:
            expected = _set_preconditions(options)
            marked = await self._pods.rewrite(
                pod.metadata.name, lambda current: self._marked(current, expected), context
            )
            if _has_version(options):
                options = options.deep_copy()
                assert options.preconditions is not None
                options.preconditions.resource_version = marked.metadata.resource_version
        # Admission has reviewed the eviction, and does not review what follows from it.
        pods = self._pods
        pods = pods.using(pods.rules.strategy, admission=NO_ADMISSION)
        await pods.delete(pod.metadata.name, options, context)

    def _marked(self, pod: Pod, expected: Preconditions) -> Pod:
        check_delete_preconditions(POD, pod, expected)
        target = PodCondition(
            type="DisruptionTarget",
            status="True",
            reason="EvictionByEvictionAPI",
            message="Eviction API: evicting",
        )
        set_pod_condition(pod.status, target, self._now())
        return pod

    @property
    def _pods(self) -> Any:
        return self._find_store(PODS)


def _options(context: RequestContext, pod: Pod, eviction: Eviction) -> DeleteOptions:
    """Return the options of the deletion; raises BadRequest or Invalid."""
    if eviction.metadata.name != pod.metadata.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    options = eviction.delete_options or DeleteOptions()
    if options.ignore_store_read_error_with_cluster_breaking_potential:
        path = Path("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
        rule = "can not be set for pod eviction, try after removing the option"
        raise Invalid.of(KIND.group_kind, pod.metadata.name, [invalid(path, True, rule)])
    if context.dry_run and not options.dry_run:
        options.dry_run = ["All"]
    return options


def _is_undisrupted(pod: Pod) -> bool:
    """Return whether the end of a pod disrupts nothing: it does not run, or ends already."""
    ends = pod.metadata.deletion_timestamp is not None
    return ends or pod.status.phase in (*FINISHED, PENDING)


def _at_version(pod: Pod, options: DeleteOptions) -> DeleteOptions:
    """Return options that delete a pending pod only in the state that was read."""
    starts = pod.metadata.deletion_timestamp is None and pod.status.phase == PENDING
    return _with_version(pod, options) if starts else options


def _with_version(pod: Pod, options: DeleteOptions) -> DeleteOptions:
    if _has_version(options):
        return options
    options = options.deep_copy()
    options.preconditions = options.preconditions or Preconditions()
    options.preconditions.resource_version = pod.metadata.resource_version
    return options


def _has_version(options: DeleteOptions) -> bool:
    return options.preconditions is not None and options.preconditions.resource_version is not None


def _set_preconditions(options: DeleteOptions) -> Preconditions:
    """Return the preconditions without empty ones, which expect nothing."""
    given = options.preconditions or Preconditions()
    return Preconditions(uid=given.uid or None, resource_version=given.resource_version or None)


def _protects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    try:
        selector = from_label_selector(budget.spec.selector)
    except ValueError:
        return False
    return selector.matches(pod.metadata.labels)


def _may_go_unhealthy(pod: Pod, budget: PodDisruptionBudget) -> bool:
    """Return whether a pod that is not ready may be deleted without counting its disruption."""
    if any(found.type == "Ready" and found.status == "True" for found in pod.status.conditions):
        return False
    status = budget.status
    met = status.current_healthy >= status.desired_healthy > 0
    return met or budget.spec.unhealthy_pod_eviction_policy == ALWAYS_ALLOW


def _check_budget(budget: PodDisruptionBudget) -> None:
    """Raise TooManyRequests or Forbidden if the budget allows no disruption."""
    status, name = budget.status, budget.metadata.name
    if status.observed_generation < budget.metadata.generation:
        raise _still_processed(name)
    if status.disruptions_allowed < 0:
        reason = "pdb disruptions allowed is negative"
        _forbid(name, reason, reason)
    if len(status.disrupted_pods) > MAX_DISRUPTED_PODS:
        _forbid(
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
            "too many pending evictions not confirmed by PDB controller",
        )
    if status.disruptions_allowed == 0:
        raise _too_many(_why_not(budget), retry_after=0)


def _why_not(budget: PodDisruptionBudget) -> str:
    status, subject = budget.status, f"The disruption budget {budget.metadata.name}"
    found = find_condition(status.conditions, DISRUPTION_ALLOWED)
    message = found.message if found is not None and found.status == "False" else ""
    if found is not None and message and found.reason == "SyncFailed":
        text = "does not allow evicting pods currently because it failed sync"
        return f"{subject} {text}: {message}"
    if status.current_healthy <= status.desired_healthy:
        healthy = f"{status.desired_healthy} healthy pods and has {status.current_healthy}"
        return f"{subject} needs {healthy} currently"
    text = f"{subject} does not allow evicting pods currently"
    return f"{text} ({found.reason}): {message}" if found is not None and message else text


def _with_disruption(budget: PodDisruptionBudget, pod: str, now: datetime) -> PodDisruptionBudget:
    changed = budget.deep_copy()
    status = changed.status
    status.disruptions_allowed -= 1
    if status.disruptions_allowed == 0:
        blocked = condition(DISRUPTION_ALLOWED, False, "InsufficientPods")
        blocked.observed_generation = status.observed_generation
        set_condition(status.conditions, blocked, now)
    status.disrupted_pods[pod] = now
    return changed


def _still_processed(name: str) -> TooManyRequests:
    text = f"The disruption budget {name} is still being processed by the server."
    return _too_many(text, retry_after=RETRY_SECONDS)


def _too_many(text: str, *, retry_after: int) -> TooManyRequests:
    error = TooManyRequests.of(_VIOLATION, retry_after=retry_after)
    assert error.details is not None
    error.details.causes.append(StatusCause(reason=DISRUPTION_BUDGET_CAUSE, message=text))
    return error


def _forbid(name: str, reason: str, explanation: str) -> NoReturn:
    text = f"The disruption budget {name} does not allow evicting pods currently: {explanation}"
    cause = StatusCause(reason=DISRUPTION_BUDGET_CAUSE, message=text)
    raise Forbidden.of(GroupResource("policy", "poddisruptionbudget"), name, reason, causes=[cause])
