"""The group certificates.k8s.io as a server installs it."""

from dataclasses import replace
from typing import Final

from apis.certificates import GROUP, v1
from apis.certificates.admission import (
    CERTIFICATE_PLUGINS,
    SignerPermissions,
    set_requestor,
)
from apis.certificates.printers import (
    POD_CERTIFICATE_REQUEST_COLUMNS,
    SIGNING_REQUEST_COLUMNS,
    TRUST_BUNDLE_COLUMNS,
)
from apis.certificates.register import POD_CERTIFICATE_FIELDS, SIGNER_FIELDS, add_to_scheme
from apis.certificates.strategy.pod_certificate_request import PodCertificateRequestStrategy
from apis.certificates.strategy.signing_request import SigningRequestStrategy, approve
from apis.certificates.strategy.trust_bundle import TrustBundleStrategy
from apiserver import STATUS, Group, Resource, ServerParts, Subresource

APPROVAL: Final = Subresource("approval", handle=approve)


def with_permissions(group: Group, parts: ServerParts) -> Group:
    """Return the group for a server whose authorizer decides who may sign for pods."""
    permissions = SignerPermissions(parts.authorizer)
    return replace(group, validating=(*group.validating, permissions.check_result))


CERTIFICATES: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "certificatesigningrequests",
            v1.CertificateSigningRequest,
            SigningRequestStrategy(),
            short_names=("csr",),
            namespaced=False,
            subresources=(APPROVAL, STATUS),
            columns=SIGNING_REQUEST_COLUMNS,
            fields=SIGNER_FIELDS,
            roles=(),
        ),
        Resource(
            "clustertrustbundles",
            v1.ClusterTrustBundle,
            TrustBundleStrategy(),
            namespaced=False,
            columns=TRUST_BUNDLE_COLUMNS,
            announced_storage_version="v1beta1",
            fields=SIGNER_FIELDS,
            roles=(),
        ),
        Resource(
            "podcertificaterequests",
            v1.PodCertificateRequest,
            PodCertificateRequestStrategy(),
            subresources=(STATUS,),
            columns=POD_CERTIFICATE_REQUEST_COLUMNS,
            announced_storage_version="v1beta1",
            fields=POD_CERTIFICATE_FIELDS,
            roles=(),
        ),
    ),
    mutating=(set_requestor,),
    plugins=CERTIFICATE_PLUGINS,
    complete=with_permissions,
)
