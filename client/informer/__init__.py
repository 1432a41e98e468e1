"""Informers: caches of a server's collections that do not lie, and tell what changes.

A tour: a `Reflector` lists and watches a `ListerWatcher` into a queue, `FIFO` or `DeltaFIFO`; a
`SharedInformer` empties the queue into its `Store` and tells its handlers; a `Lister` reads the
store; an `InformerFactory` makes one informer for each collection and runs them all.
"""

from client.cache.delta_fifo import DeltaFIFO
from client.cache.fifo import FIFO
from client.cache.keys import DeletedObject, InvalidKey, join_key, object_key, split_key
from client.cache.resource_versions import InvalidResourceVersion
from client.cache.store import IndexExists, IndexFailed, Store, UnknownIndex
from client.informer.event_handlers import Filtered, Functions, Handler
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
    "Filtered",
    "Functions",
    "Handler",
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
