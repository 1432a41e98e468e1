"""Controllers: everything that a controller imports.

    from client.controller import Context, Manager, Result

    async def reconcile(ctx: Context[Gadget]) -> Result | None: ...

    manager = Manager(client, name="gadgets", leader_election=True)
    manager.controller(Gadget, owns=[ConfigMap])(reconcile)

The tour: a `Manager` runs controllers with their caches, leader election, probes and metrics; a
controller calls its reconciler with the `Context` of one object. `Kind`, `Owned`, `Channel` and
`Stream` are sources of names to reconcile, predicates filter their changes, `Mapped` maps them to
other objects. `Finalizers` run before an object is deleted. `Result`, `Temporary` and `Terminal`
decide whether and when the object is reconciled again; queues and rate limiters decide the pace.
"""

from apimachinery.errors import AlreadyExists, APIError, Conflict, Invalid, NotFound
from client.controller.changes import (
    Change,
    CreatedObject,
    ExternalObject,
    RemovedObject,
    UpdatedObject,
)
from client.controller.context import Context, ControllerClient, NoObject
from client.controller.controller import CacheSyncTimeout, Controller, ReconcileTimeout
from client.controller.enqueue_handlers import ChangeHandler, ForObject, Mapped
from client.controller.finalizers import (
    Finalizers,
    InvalidFinalizer,
    add_finalizer,
    has_finalizer,
    remove_finalizer,
)
from client.controller.manager import Manager, ManagerStopped
from client.controller.predicates import (
    Predicate,
    all_of,
    annotations_changed,
    any_of,
    by_object,
    generation_changed,
    labels_changed,
    matching,
    none_of,
    resource_version_changed,
)
from client.controller.reconciler import NamespacedName, Reconcile, Result, Temporary, Terminal
from client.controller.runnables import Runnable
from client.controller.sources import Channel, Kind, Owned, Source, Stream
from client.events.recorder import NORMAL, WARNING, EventRecorder
from client.leaderelection.leader_election import (
    InvalidElection,
    LeaderElection,
    LeaderElector,
    LeadershipLost,
)
from client.monitoring.controller_metrics import MetricsSink
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
    "NORMAL",
    "WARNING",
    "APIError",
    "AlreadyExists",
    "Bucket",
    "CacheSyncTimeout",
    "Change",
    "ChangeHandler",
    "Channel",
    "Conflict",
    "Context",
    "Controller",
    "ControllerClient",
    "CreatedObject",
    "EventRecorder",
    "ExponentialFailure",
    "ExternalObject",
    "FastSlow",
    "Finalizers",
    "ForObject",
    "Invalid",
    "InvalidElection",
    "InvalidFinalizer",
    "Kind",
    "LeaderElection",
    "LeaderElector",
    "LeadershipLost",
    "Manager",
    "ManagerStopped",
    "Mapped",
    "MaxOf",
    "MaxWait",
    "MetricsProvider",
    "MetricsSink",
    "NamespacedName",
    "NoObject",
    "NotFound",
    "Owned",
    "Predicate",
    "PriorityQueue",
    "Queue",
    "QueueShutDown",
    "RateLimiter",
    "Reconcile",
    "ReconcileTimeout",
    "RemovedObject",
    "Result",
    "Runnable",
    "Source",
    "Stream",
    "Temporary",
    "Terminal",
    "UpdatedObject",
    "WithJitter",
    "WorkQueue",
    "add_finalizer",
    "all_of",
    "annotations_changed",
    "any_of",
    "by_object",
    "default_rate_limiter",
    "generation_changed",
    "has_finalizer",
    "labels_changed",
    "matching",
    "none_of",
    "remove_finalizer",
    "resource_version_changed",
]
