"""How ServiceAccounts are written."""

from apis.core.v1.service_account import ServiceAccount
from apiserver.registry.strategy import Strategy


class ServiceAccountStrategy(Strategy[ServiceAccount]):
    """Names are DNS subdomains; nothing else can be wrong with one."""

    returns_deleted_object = True
