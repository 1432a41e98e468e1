"""Controllers: a Manager that runs them, and the queues and limits they work with."""

from client.controller.context import Context
from client.controller.finalizers import Finalizers
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Result, Terminal
from client.events.recorder import EventRecorder
from client.leaderelection.leader_election import LeaderElection, LeaderElector, LeadershipLost
from client.workqueue.priority_queue import LOW_PRIORITY, PriorityQueue
from client.workqueue.queue_metrics import MetricsProvider
from client.workqueue.rate_limiters import (
    Bucket,
    ExponentialFailure,
    FastSlow,
    MaxOf,
    MaxWait,
    RateLimiter,
    WithJitter,
    default_rate_limiter,
)
from client.workqueue.workqueue import Queue, QueueShutDown, WorkQueue

__all__ = [
    "LOW_PRIORITY",
    "Bucket",
    "Context",
    "EventRecorder",
    "ExponentialFailure",
    "FastSlow",
    "Finalizers",
    "LeaderElection",
    "LeaderElector",
    "LeadershipLost",
    "Manager",
    "MaxOf",
    "MaxWait",
    "MetricsProvider",
    "NamespacedName",
    "PriorityQueue",
    "Queue",
    "QueueShutDown",
    "RateLimiter",
    "Result",
    "Terminal",
    "WithJitter",
    "WorkQueue",
    "default_rate_limiter",
]
