"""ClusterTrustBundle: the trust anchors of a signer, or of anything else in a cluster."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field


class ClusterTrustBundleSpec(Model):
    """Trust anchors, and the signer that they belong to."""

    signer_name: str = field(
        "",
        proto=1,
        doc=(
            "Signer that the trust anchors belong to, if any; immutable. Setting it requires the"
            " permission `attest` for this signer (resource `signers`). The name of the bundle"
            " then begins with it: `example.com:foo:v1` for the signer `example.com/foo`. Bundles"
            " of no signer have no colon in their name."
        ),
    )
    trust_bundle: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc=(
            "Certificates of the trust anchors, each as a PEM block `CERTIFICATE` without headers."
            " Each is a CA certificate by its basic constraints, and occurs once. The order has no"
            " meaning. Required."
        ),
    )


class ClusterTrustBundle(Object):
    """ClusterTrustBundle has X.509 trust anchors, which pods can mount in projected volumes."""

    spec: ClusterTrustBundleSpec = field(
        default_factory=ClusterTrustBundleSpec,
        proto=2,
        required=True,
        doc="Trust anchors, and their signer.",
    )
