"""Strategy of Secrets."""

from apimachinery.fieldpath import FieldErrors
from apis.core.v1.secret import Secret, merge_string_data
from apis.core.validation.secret import validate_secret, validate_secret_update
from apiserver import Strategy


class SecretStrategy(Strategy[Secret]):
    """Names are DNS subdomains; the type, and the data of an immutable Secret, cannot change."""

    qualified_finalizers = True

    def prepare_for_create(self, obj: Secret) -> None:
        # Decoding has merged the stringData of documents; other callers may still have some.
        merge_string_data(obj)

    def prepare_for_update(self, new: Secret, old: Secret) -> None:
        merge_string_data(new)
        new.type = new.type or old.type

    def validate(self, obj: Secret) -> FieldErrors:
        yield from validate_secret(obj)

    def validate_update(self, new: Secret, old: Secret) -> FieldErrors:
        yield from validate_secret_update(new, old)
