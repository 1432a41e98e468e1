"""Admission of certificates.k8s.io: who requests, who may approve and sign, and for whom.

The names of signers are names of the resource `signers`, which exists for authorization only: the
verbs `approve` and `sign` on it allow to approve requests and to issue certificates, `attest` to
publish the trust anchors of a signer.
"""

from typing import Final

from apimachinery.errors import Invalid
from apimachinery.fieldpath import Path, forbidden, quote
from apimachinery.meta.types import Object
from apimachinery.schema import GroupKind, GroupResource
from apis.certificates import GROUP
from apis.certificates.pem import organizations, read_request
from apis.certificates.v1 import (
    CertificateSigningRequest,
    ClusterTrustBundle,
    PodCertificateRequest,
)
from apis.certificates.v1.signing_request import KUBE_APISERVER_CLIENT
from apiserver import (
    AdmissionPlugin,
    Attributes,
    Authorizer,
    PluginFunctions,
    RequestInfo,
    ServerParts,
)
from apiserver.auth.user import MASTERS, User

BUNDLES: Final = GroupResource(GROUP, "clustertrustbundles")
REQUESTS: Final = GroupResource(GROUP, "certificatesigningrequests")


def set_requestor(attributes: Attributes) -> None:
    """Record the user who creates a request."""
    request, user = attributes.object, attributes.user
    if attributes.old_object is None and isinstance(request, CertificateSigningRequest):
        request.spec.username, request.spec.uid = user.name, user.uid
        request.spec.groups = list(user.groups)
        request.spec.extra = {key: list(values) for key, values in user.extra.items()}


def restrict_subject(attributes: Attributes) -> None:
    """Reject a request for a client certificate with all permissions."""
    request = attributes.object
    if attributes.old_object is not None or not isinstance(request, CertificateSigningRequest):
        return
    if request.spec.signer_name != KUBE_APISERVER_CLIENT:
        return
    # Validation has parsed the request before.
    if MASTERS in organizations(read_request(request.spec.request)):
        raise attributes.forbidden(
            f"use of {KUBE_APISERVER_CLIENT} signer with {MASTERS} group is not allowed"
        )


class SignerPermissions:
    """Rejects what a signer allows only to some: approvals, certificates and trust anchors."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def check_approval(self, attributes: Attributes) -> None:
        """Reject the approval of a request without the permission to approve."""
        old = attributes.old_object
        if attributes.subresource == "approval" and isinstance(old, CertificateSigningRequest):
            await self._check_request(attributes, "approve", old)

    async def check_signing(self, attributes: Attributes) -> None:
        """Reject a certificate, or the failure to issue one, without the permission to sign."""
        new, old = attributes.object, attributes.old_object
        if attributes.subresource != "status" or not isinstance(old, CertificateSigningRequest):
            return
        if isinstance(new, CertificateSigningRequest) and new.status != old.status:
            await self._check_request(attributes, "sign", old)

    async def check_attest(self, attributes: Attributes) -> None:
        """Reject the trust anchors of a signer without the permission to attest."""
        bundle, old = attributes.object, attributes.old_object
        if not isinstance(bundle, ClusterTrustBundle):
            return
        signer = bundle.spec.signer_name
        # Garbage collection and migration of storage need no permission of the signer.
        if not signer or (isinstance(old, Object) and _has_changed_owners_only(bundle, old)):
            return
        if not await self._may(attributes.user, "attest", signer):
            raise attributes.forbidden(
                f"user not permitted to attest for signerName {quote(signer)}"
            )

    async def check_result(self, attributes: Attributes) -> None:
        """Reject the result of a request of a pod without the permission to sign."""
        new, old = attributes.object, attributes.old_object
        if not isinstance(new, PodCertificateRequest) or not isinstance(old, PodCertificateRequest):
            return
        signer = old.spec.signer_name
        if new.status == old.status or await self._may(attributes.user, "sign", signer):
            return
        user = quote(attributes.user.name)
        rule = f'User {user} is not permitted to "sign" for signer {quote(signer)}'
        error = forbidden(Path("spec", "signerName"), rule)
        raise Invalid.of(GroupKind(GROUP, "PodCertificateRequest"), old.metadata.name, [error])

    async def _check_request(
        self, attributes: Attributes, verb: str, request: CertificateSigningRequest
    ) -> None:
        signer = request.spec.signer_name
        if not await self._may(attributes.user, verb, signer):
            raise attributes.forbidden(
                f"user not permitted to {verb} requests with signerName {quote(signer)}"
            )

    async def _may(self, user: User, verb: str, signer: str) -> bool:
        """Return whether a user has a permission for a signer, or for all of its domain."""
        domain = signer.partition("/")[0]
        for name in (signer, f"{domain}/*"):
            wanted = RequestInfo(
                path="",
                verb=verb,
                is_resource=True,
                group=GROUP,
                version="*",
                resource="signers",
                name=name,
            )
            if (await self._authorizer.authorize(user, wanted)).allowed:
                return True
        return False


def _has_changed_owners_only(new: Object, old: Object) -> bool:
    before = old.deep_copy()
    for name in ("owner_references", "finalizers", "managed_fields", "resource_version"):
        setattr(before.metadata, name, getattr(new.metadata, name))
    return before == new


def _build_approval(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=SignerPermissions(parts.authorizer).check_approval)


def _build_signing(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=SignerPermissions(parts.authorizer).check_signing)


def _build_attest(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=SignerPermissions(parts.authorizer).check_attest)


def _build_subject(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=restrict_subject)


CERTIFICATE_PLUGINS: Final = (
    AdmissionPlugin("CertificateApproval", _build_approval, frozenset((REQUESTS,))),
    AdmissionPlugin("CertificateSigning", _build_signing, frozenset((REQUESTS,))),
    AdmissionPlugin("ClusterTrustBundleAttest", _build_attest, frozenset((BUNDLES,))),
    AdmissionPlugin("CertificateSubjectRestriction", _build_subject, frozenset((REQUESTS,))),
)
