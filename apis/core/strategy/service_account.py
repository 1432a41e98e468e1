"""Strategy of ServiceAccounts."""

from apimachinery.fieldpath import FieldErrors
from apis.core.v1.service_account import ServiceAccount
from apis.core.validation.finalizers import validate_finalizers
from apiserver import Strategy


class ServiceAccountStrategy(Strategy[ServiceAccount]):
    """Names are DNS subdomains; only the finalizers need validation."""

    returns_deleted_object = True

    def validate(self, obj: ServiceAccount) -> FieldErrors:
        yield from validate_finalizers(obj.metadata)
