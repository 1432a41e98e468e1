"""Defaulting functions of scheduling.k8s.io/v1."""

from apis.scheduling.v1.priority_class import PREEMPT_LOWER_PRIORITY, PriorityClass


def set_priority_class_defaults(priority_class: PriorityClass) -> None:
    if priority_class.preemption_policy is None:
        priority_class.preemption_policy = PREEMPT_LOWER_PRIORITY
