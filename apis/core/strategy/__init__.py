from apis.core.strategy.config_map import ConfigMapStrategy
from apis.core.strategy.event import EventStrategy
from apis.core.strategy.namespace import NamespaceFinalizeStrategy, NamespaceStrategy, finalize
from apis.core.strategy.secret import SecretStrategy
from apis.core.strategy.service import ServiceStrategy
from apis.core.strategy.service_account import ServiceAccountStrategy

__all__ = [
    "ConfigMapStrategy",
    "EventStrategy",
    "NamespaceFinalizeStrategy",
    "NamespaceStrategy",
    "SecretStrategy",
    "ServiceAccountStrategy",
    "ServiceStrategy",
    "finalize",
]
