"""Informers: caches of a server's collections that notify handlers of changes.

A `Reflector` lists and watches a `ListerWatcher` into a queue, `FIFO` or `DeltaFIFO`. A
`SharedInformer` drains the queue into its `Store` and notifies its handlers. A `Lister` reads the
store. An `InformerFactory` creates one informer for each collection and runs them all.
"""

from client.cache.delta_fifo import DeltaFIFO
from client.cache.fifo import FIFO
from client.cache.keys import DeletedObject, InvalidKey, join_key, object_key, split_key
from client.cache.resource_versions import InvalidResourceVersion
from client.cache.store import IndexExists, IndexFailed, Store, UnknownIndex
from client.informer.event_handlers import FilteringHandler, Handler, HandlerFunctions
from client.informer.factory import InformerFactory, SyncTimeout
from client.informer.informer import InformerOptions, SharedInformer
from client.informer.lister import Lister, NamespaceLister
from client.informer.mutation_detector import CacheMutated, MutationDetector
from client.informer.registration import Registration
from client.informer.transforms import chain, compact, drop_managed_fields
from client.reflector.list_watch import EventStream, ListerWatcher
from client.reflector.reflector import Reflector
from client.runtime.waiting import InformerStopped

__all__ = [
    "FIFO",
    "CacheMutated",
    "DeletedObject",
    "DeltaFIFO",
    "EventStream",
    "FilteringHandler",
    "Handler",
    "HandlerFunctions",
    "IndexExists",
    "IndexFailed",
    "InformerFactory",
    "InformerOptions",
    "InformerStopped",
    "InvalidKey",
    "InvalidResourceVersion",
    "Lister",
    "ListerWatcher",
    "MutationDetector",
    "NamespaceLister",
    "Reflector",
    "Registration",
    "SharedInformer",
    "Store",
    "SyncTimeout",
    "UnknownIndex",
    "chain",
    "compact",
    "drop_managed_fields",
    "join_key",
    "object_key",
    "split_key",
]
