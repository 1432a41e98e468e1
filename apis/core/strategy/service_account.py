"""Strategy of ServiceAccounts."""

from apis.core.v1.service_account import ServiceAccount
from apiserver import Strategy


class ServiceAccountStrategy(Strategy[ServiceAccount]):
    """Names are DNS subdomains."""

    qualified_finalizers = True
    returns_deleted_object = True
