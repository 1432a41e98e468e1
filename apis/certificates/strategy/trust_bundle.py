"""Strategy of ClusterTrustBundles."""

from apimachinery.fieldpath import FieldErrors
from apis.certificates.v1 import ClusterTrustBundle
from apis.certificates.validation.trust_bundle import validate_trust_bundle
from apiserver import Strategy


class TrustBundleStrategy(Strategy[ClusterTrustBundle]):
    """Every update needs a resourceVersion; validation knows which names a signer allows."""

    qualified_finalizers = True
    allow_unconditional_update = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return []

    def validate(self, obj: ClusterTrustBundle) -> FieldErrors:
        yield from validate_trust_bundle(obj)

    def validate_update(self, new: ClusterTrustBundle, old: ClusterTrustBundle) -> FieldErrors:
        yield from validate_trust_bundle(new, old)

    def desired_state(self, obj: ClusterTrustBundle) -> object:
        return None
