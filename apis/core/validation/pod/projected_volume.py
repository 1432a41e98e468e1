"""Validation of projected volumes, which put several sources into one directory."""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import (
    dns_subdomain_name,
    validate_label_selector,
)
from apis.core.v1.projected_volume import (
    ClusterTrustBundleProjection,
    ConfigMapProjection,
    DownwardAPIProjection,
    PodCertificateProjection,
    ProjectedVolumeSource,
    SecretProjection,
    ServiceAccountTokenProjection,
    VolumeProjection,
)
from apis.core.validation.internal_form import internal_form
from apis.core.validation.paths import validate_unreserved_path
from apis.core.validation.pod.cluster_volumes import (
    validate_downward_api_file,
    validate_file_defaults,
    validate_file_owner,
    validate_key_to_path,
)
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.signer_names import (
    LIFETIME_MIN,
    lifetime_max,
    validate_signer_name,
    validate_user_annotations,
)
from apis.core.validation.volume_sources import validate_required_texts

_CONFLICT: Final = "conflicting duplicate paths"
_KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_TOKEN_LIFETIME_MIN: Final = 10 * 60
_TOKEN_LIFETIME_MAX: Final = 2**32


def validate_projected_volume(
    volume: ProjectedVolumeSource, path: Path, options: PodValidationOptions
) -> FieldErrors:
    yield from validate_file_defaults(volume.default_mode, volume.default_user, path)
    taken = _Paths(path)
    for position, source in enumerate(volume.sources):
        here = path.child("sources").index(position)
        kinds = list(_projections(source, here, taken, options))
        for errors in kinds:
            yield from errors
        if len(kinds) > 1:
            yield forbidden(here, "may not specify more than 1 volume type per source")


class _Paths:
    """The paths of files that earlier sources of the volume have taken."""

    def __init__(self, volume: Path) -> None:
        self.volume = volume
        self._taken: set[str] = set()

    def take(self, file: str, shown: str) -> FieldErrors:
        """Report *file* if it is taken, with *shown* as the value, and take it."""
        if file in self._taken:
            yield invalid(self.volume, shown, _CONFLICT)
        self._taken.add(file)


def _projections(
    source: VolumeProjection, path: Path, taken: _Paths, options: PodValidationOptions
) -> Iterator[FieldErrors]:
    if source.secret is not None:
        yield _validate_keys(source.secret, path.child("secret"), taken)
    if source.config_map is not None:
        yield _validate_keys(source.config_map, path.child("configMap"), taken)
    if source.downward_api is not None:
        yield _validate_downward_api(source.downward_api, path.child("downwardAPI"), taken)
    if source.service_account_token is not None:
        here = path.child("serviceAccountToken")
        yield _validate_token(source.service_account_token, here, taken.volume, options)
    if source.cluster_trust_bundle is not None:
        here = path.child("clusterTrustBundle")
        yield _validate_trust_bundle(source.cluster_trust_bundle, here, taken)
    if source.pod_certificate is not None:
        here = path.child("podCertificate")
        yield _validate_certificate(source.pod_certificate, here, taken)


def _validate_keys(
    source: SecretProjection | ConfigMapProjection, path: Path, taken: _Paths
) -> FieldErrors:
    yield from validate_required_texts({"name": source.name}, path)
    for position, item in enumerate(source.items):
        yield from validate_key_to_path(item, path.child("items").index(position))
        if item.path:
            yield from taken.take(item.path, source.name)


def _validate_downward_api(source: DownwardAPIProjection, path: Path, taken: _Paths) -> FieldErrors:
    for file in source.items:
        yield from validate_downward_api_file(file, path)
        if file.path:
            yield from taken.take(file.path, file.path)


def _validate_token(
    source: ServiceAccountTokenProjection,
    path: Path,
    volume: Path,
    options: PodValidationOptions,
) -> FieldErrors:
    seconds, lifetime = source.expiration_seconds, path.child("expirationSeconds")
    if seconds is None:
        yield required(lifetime)
    elif seconds < _TOKEN_LIFETIME_MIN:
        yield invalid(lifetime, seconds, "may not specify a duration less than 10 minutes")
    elif seconds > _TOKEN_LIFETIME_MAX:
        yield invalid(lifetime, seconds, "may not specify a duration larger than 2^32 seconds")
    # As in Kubernetes, the path is reported at the volume.
    if not source.path:
        yield required(volume.child("path"))
    elif not options.allow_nonlocal_token_paths:
        yield from validate_unreserved_path(source.path, volume.child("path"))
    yield from validate_file_owner(source.user, path.child("user"))


def _validate_trust_bundle(
    source: ClusterTrustBundleProjection, path: Path, taken: _Paths
) -> FieldErrors:
    if source.name is not None and source.signer_name is not None:
        rule = "only one of name and signerName may be used"
        yield invalid(path, internal_form(source), rule)
    elif source.name is not None:
        yield from _validate_bundle_name(source.name, path.child("name"))
        if source.label_selector is not None:
            rule = "labelSelector must be unset if name is specified"
            yield invalid(path.child("labelSelector"), source.label_selector, rule)
    elif source.signer_name is not None:
        signer = path.child("signerName")
        if not source.signer_name:
            yield required(signer, "must be a valid signer name")
        yield from validate_signer_name(source.signer_name, signer)
        yield from validate_label_selector(source.label_selector, path.child("labelSelector"))
    else:
        yield required(path, "either name or signerName must be specified")
    yield from validate_required_texts({"path": source.path}, path)
    yield from validate_file_owner(source.user, path.child("user"))
    yield from validate_unreserved_path(source.path, path.child("path"))
    yield from taken.take(source.path, source.path)


def _validate_bundle_name(name: str, path: Path) -> FieldErrors:
    """Validate the name of a trust bundle; a signer's bundle begins with the signer's name."""
    if not name:
        yield required(path, "must be a valid object name")
    _, _, own = name.rpartition(":")
    for error in dns_subdomain_name(own, False):
        yield invalid(path, name, f"not a valid clustertrustbundlename: {error}")


def _validate_certificate(
    source: PodCertificateProjection, path: Path, taken: _Paths
) -> FieldErrors:
    yield from validate_signer_name(source.signer_name, path.child("signerName"))
    yield from validate_user_annotations(source.user_annotations, path.child("userAnnotations"))
    yield from validate_file_owner(source.user, path.child("user"))
    if source.key_type not in _KEY_TYPES:
        yield not_supported(path.child("keyType"), source.key_type, _KEY_TYPES)
    yield from _validate_lifetime(source, path.child("maxExpirationSeconds"))
    files = (
        ("credentialBundlePath", source.credential_bundle_path),
        ("keyPath", source.key_path),
        ("certificateChainPath", source.certificate_chain_path),
    )
    for wire, file in files:
        if file:
            yield from validate_unreserved_path(file, path.child(wire))
            yield from taken.take(file, file)
    if not any(file for _, file in files):
        rule = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        yield required(path, rule)


def _validate_lifetime(source: PodCertificateProjection, path: Path) -> FieldErrors:
    seconds = source.max_expiration_seconds
    if seconds is None:
        return
    if seconds < LIFETIME_MIN:
        yield invalid(path, seconds, "if provided, maxExpirationSeconds must be >= 3600")
    maximum = lifetime_max(source.signer_name)
    if seconds > maximum:
        yield invalid(path, seconds, f"if provided, maxExpirationSeconds must be <= {maximum}")
