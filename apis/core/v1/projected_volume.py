"""Projected volumes: files from several sources in one folder."""

from apimachinery.meta.types import LabelSelector
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.volume_sources import DownwardAPIVolumeFile, KeyToPath


class SecretProjection(Model):
    """Files with the values of a Secret, in a projected volume."""

    name: str = field(
        "",
        proto=(1, 1),
        published_default="",
        doc="Name of the Secret in the namespace of the pod.",
    )
    items: list[KeyToPath] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Keys to project, and their files; every key if there are none.",
    )
    optional: bool | None = field(
        None, proto=4, doc="Whether the pod may start without the Secret or its keys."
    )


class ConfigMapProjection(Model):
    """Files with the values of a ConfigMap, in a projected volume."""

    name: str = field(
        "",
        proto=(1, 1),
        published_default="",
        doc="Name of the ConfigMap in the namespace of the pod.",
    )
    items: list[KeyToPath] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Keys to project, and their files; every key if there are none.",
    )
    optional: bool | None = field(
        None, proto=4, doc="Whether the pod may start without the ConfigMap or its keys."
    )


class DownwardAPIProjection(Model):
    """Files with fields of the pod, in a projected volume."""

    items: list[DownwardAPIVolumeFile] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Files of the projection."
    )


class ServiceAccountTokenProjection(Model):
    """A file with a token of the pod's service account, which is renewed in time."""

    audience: str = field("", proto=1, doc="Audience of the token; defaults to the API server.")
    expiration_seconds: int | None = field(
        None, proto=2, doc="Seconds that the token is valid for, at least 600; defaults to an hour."
    )
    path: str = field("", proto=3, omit_empty=False, doc="Path of the file within the volume.")
    user: int | None = field(None, proto=4, doc="User ID that owns the file.")


class ClusterTrustBundleProjection(Model):
    """A file with trust anchors of ClusterTrustBundles."""

    name: str | None = field(
        None, proto=1, doc="Name of a single ClusterTrustBundle; not together with `signerName`."
    )
    signer_name: str | None = field(
        None, proto=2, doc="Signer whose ClusterTrustBundles are collected."
    )
    label_selector: LabelSelector | None = field(
        None,
        proto=3,
        doc="Labels of the bundles of the signer; the empty selector means all of them.",
    )
    optional: bool | None = field(
        None, proto=5, doc="Whether the pod may start without the bundles."
    )
    path: str = field("", proto=4, omit_empty=False, doc="Path of the file within the volume.")
    user: int | None = field(None, proto=6, doc="User ID that owns the file.")


class PodCertificateProjection(Model):
    """A private key and a certificate that the kubelet requests for the pod and renews."""

    signer_name: str = field(
        "", proto=1, required=True, doc="Signer that the kubelet asks for the certificate."
    )
    key_type: str = field(
        "",
        proto=2,
        required=True,
        doc="Type of the generated key, such as `ED25519` or `ECDSAP256`.",
    )
    max_expiration_seconds: Int32 | None = field(
        None,
        proto=3,
        doc="Longest validity of the certificate in seconds; the signer may choose a shorter one.",
    )
    credential_bundle_path: str = field(
        "", proto=4, doc="Path of a file with the key and the certificate chain together."
    )
    key_path: str = field("", proto=5, doc="Path of a file with the key only.")
    certificate_chain_path: str = field(
        "", proto=6, doc="Path of a file with the certificate chain only."
    )
    user_annotations: dict[str, str] = field(
        default_factory=dict, proto=7, doc="Annotations that are passed to the signer."
    )
    user: int | None = field(None, proto=8, doc="User ID that owns the files.")


class VolumeProjection(Model):
    """One source of a projected volume; exactly one field is set."""

    secret: SecretProjection | None = field(None, proto=1, doc="Values of a Secret.")
    downward_api: DownwardAPIProjection | None = field(
        None, proto=2, wire="downwardAPI", doc="Fields of the pod."
    )
    config_map: ConfigMapProjection | None = field(None, proto=3, doc="Values of a ConfigMap.")
    service_account_token: ServiceAccountTokenProjection | None = field(
        None, proto=4, doc="A token of the service account."
    )
    cluster_trust_bundle: ClusterTrustBundleProjection | None = field(
        None, proto=5, doc="Trust anchors of ClusterTrustBundles."
    )
    pod_certificate: PodCertificateProjection | None = field(
        None, proto=6, doc="A private key and a certificate for the pod."
    )


class ProjectedVolumeSource(Model):
    """A folder with the files of several sources."""

    sources: list[VolumeProjection] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        required=False,
        doc="Sources of the files.",
    )
    default_mode: Int32 | None = field(
        None, proto=2, doc="Permission bits of files without their own; defaults to 0644."
    )
    default_user: int | None = field(
        None, proto=3, doc="User ID that owns files without their own."
    )
