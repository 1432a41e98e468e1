"""Controllers: queues of work, and what decides when something is tried again."""

from client.controller.priority_queue import LOW_PRIORITY, PriorityQueue
from client.controller.queue_metrics import MetricsProvider
from client.controller.ratelimit import (
    Bucket,
    ExponentialFailure,
    FastSlow,
    MaxOf,
    MaxWait,
    RateLimiter,
    WithJitter,
    default_rate_limiter,
)
from client.controller.workqueue import Queue, QueueShutDown, WorkQueue

__all__ = [
    "LOW_PRIORITY",
    "Bucket",
    "ExponentialFailure",
    "FastSlow",
    "MaxOf",
    "MaxWait",
    "MetricsProvider",
    "PriorityQueue",
    "Queue",
    "QueueShutDown",
    "RateLimiter",
    "WithJitter",
    "WorkQueue",
    "default_rate_limiter",
]
