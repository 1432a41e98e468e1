"""Admission of certificates.k8s.io: who requests, who may approve and sign, and for whom.

The names of signers are names of the resource `signers`, which exists for authorization only: the
verbs `approve` and `sign` on it allow to approve requests and to issue certificates.
"""

from apimachinery.fieldpath import quote
from apis.certificates import GROUP
from apis.certificates.pem import organizations, read_request
from apis.certificates.v1 import CertificateSigningRequest
from apis.certificates.v1.signing_request import KUBE_APISERVER_CLIENT
from apiserver import Attributes, Authorizer, RequestInfo
from apiserver.auth.user import MASTERS, User


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
    """Rejects approvals and certificates of users without the permission for the signer."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if not isinstance(old, CertificateSigningRequest) or not isinstance(
            new, CertificateSigningRequest
        ):
            return
        signer = old.spec.signer_name
        if attributes.subresource == "approval":
            await self._require(attributes, "approve", signer)
        elif attributes.subresource == "status" and new.status != old.status:
            await self._require(attributes, "sign", signer)

    async def _require(self, attributes: Attributes, verb: str, signer: str) -> None:
        domain = signer.partition("/")[0]
        for name in (signer, f"{domain}/*"):
            if await self._may(attributes.user, verb, name):
                return
        raise attributes.forbidden(
            f"user not permitted to {verb} requests with signerName {quote(signer)}"
        )

    async def _may(self, user: User, verb: str, signer: str) -> bool:
        wanted = RequestInfo(
            path="",
            verb=verb,
            is_resource=True,
            group=GROUP,
            version="*",
            resource="signers",
            name=signer,
        )
        return (await self._authorizer.authorize(user, wanted)).allowed
