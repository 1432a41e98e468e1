"""Validation of restart policies and resize policies: when a container is restarted."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from apis.core.pod_containers import AnyContainer
from apis.core.v1.container import Container, ContainerRestartRule
from apis.core.v1.resource_requirements import ContainerResizePolicy

RESTART_CONTAINER: Final = "RestartContainer"

_POD_POLICIES: Final = ("Always", "OnFailure", "Never")
_CONTAINER_POLICIES: Final = ("Always", "Never", "OnFailure")
_ACTIONS: Final = ("Restart", "RestartAllContainers")
_OPERATORS: Final = ("In", "NotIn")
_RULES_MAX: Final = 20
_EXIT_CODES_MAX: Final = 255
_RESIZABLE: Final = ("cpu", "memory")
_RESIZE_POLICIES: Final = ("NotRequired", RESTART_CONTAINER)


def validate_pod_restart_policy(policy: str, path: Path) -> FieldErrors:
    if not policy:
        yield required(path)
    elif policy not in _POD_POLICIES:
        yield not_supported(path, policy, _POD_POLICIES)


def validate_container_restart_policy(container: Container, path: Path) -> FieldErrors:
    """Validate the restart policy of a container, and the exceptions from it by exit code."""
    policy, rules = container.restart_policy, container.restart_policy_rules
    if policy is None:
        if rules:
            rule = "must specify restartPolicy when restart rules are used"
            yield required(path.child("restartPolicy"), rule)
    elif policy not in _CONTAINER_POLICIES:
        yield not_supported(path.child("restartPolicy"), policy, _CONTAINER_POLICIES)
    if len(rules) > _RULES_MAX:
        yield too_many(path.child("restartPolicyRules"), len(rules), _RULES_MAX)
    for position, exception in enumerate(rules):
        yield from _validate_rule(exception, path.child("restartPolicyRules").index(position))


def validate_init_restart_policy(container: Container, path: Path) -> FieldErrors:
    """Validate the restart policy of an init container: without one, there are no rules."""
    if container.restart_policy is not None:
        yield from validate_container_restart_policy(container, path)
    elif container.restart_policy_rules:
        rule = "must specify restartPolicy when restart rules are used"
        yield required(path.child("restartPolicy"), rule)


def validate_resize_policy(
    policies: Sequence[ContainerResizePolicy], path: Path, pod_restart_policy: str
) -> FieldErrors:
    seen: set[str] = set()
    for position, policy in enumerate(policies):
        if policy.resource_name in seen:
            yield duplicate(path.index(position), policy.resource_name)
        seen.add(policy.resource_name)
        yield from _validate_choice(policy.resource_name, path, _RESIZABLE)
        yield from _validate_choice(policy.restart_policy, path, _RESIZE_POLICIES)
        if pod_restart_policy == "Never" and policy.restart_policy != "NotRequired":
            rule = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield invalid(path, policy.restart_policy, rule)


def validate_init_resize_policy(container: Container, path: Path) -> FieldErrors:
    """Validate that an init container, which ends, is not restarted for a resize."""
    for position, policy in enumerate(container.resize_policy):
        if policy.restart_policy == RESTART_CONTAINER:
            here = path.index(position).child("restartPolicy")
            rule = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield invalid(here, policy.restart_policy, rule)


def should_restart(container: AnyContainer, pod_restart_policy: str, exit_code: int) -> bool:
    """Return whether a container that ended with *exit_code* is started again."""
    policy = pod_restart_policy
    if container.restart_policy is not None:
        if any(_matches(rule, exit_code) for rule in container.restart_policy_rules):
            return True
        policy = container.restart_policy
    return policy != "Never" and (policy != "OnFailure" or exit_code != 0)


def can_restart_all(containers: Sequence[Container]) -> bool:
    """Return whether the exit of one of the containers can restart all containers of the pod."""
    return any(
        rule.action == "RestartAllContainers"
        for container in containers
        for rule in container.restart_policy_rules
    )


def _validate_rule(rule: ContainerRestartRule, path: Path) -> FieldErrors:
    if rule.action not in _ACTIONS:
        yield not_supported(path.child("action"), rule.action, _ACTIONS)
    codes = path.child("exitCodes")
    if rule.exit_codes is None:
        yield required(codes, "must be specified")
        return
    if rule.exit_codes.operator not in _OPERATORS:
        yield not_supported(codes.child("operator"), rule.exit_codes.operator, _OPERATORS)
    if len(rule.exit_codes.values) > _EXIT_CODES_MAX:
        yield too_many(codes.child("values"), len(rule.exit_codes.values), _EXIT_CODES_MAX)


def _validate_choice(value: str, path: Path, choices: Sequence[str]) -> FieldErrors:
    if not value:
        yield required(path)
    elif value not in choices:
        yield not_supported(path, value, choices)


def _matches(rule: ContainerRestartRule, exit_code: int) -> bool:
    if rule.exit_codes is None:
        return False
    listed = exit_code in rule.exit_codes.values
    return listed if rule.exit_codes.operator == "In" else not listed
