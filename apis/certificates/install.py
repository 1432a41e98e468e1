"""The group certificates.k8s.io as a server installs it."""

from dataclasses import replace
from typing import Final

from apis.certificates import GROUP, v1
from apis.certificates.admission import SignerPermissions, restrict_subject, set_requestor
from apis.certificates.printers import SIGNING_REQUEST_COLUMNS
from apis.certificates.register import SIGNING_REQUEST_FIELDS, add_to_scheme
from apis.certificates.strategy import SigningRequestStrategy, approve
from apiserver import STATUS, Group, Resource, ServerParts, Subresource

APPROVAL: Final = Subresource("approval", handle=approve)


def with_permissions(group: Group, parts: ServerParts) -> Group:
    """Return the group for a server whose authorizer decides who may approve and sign."""
    return replace(group, validating=(*group.validating, SignerPermissions(parts.authorizer)))


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
            fields=SIGNING_REQUEST_FIELDS,
            roles=(),
        ),
    ),
    mutating=(set_requestor,),
    validating=(restrict_subject,),
    complete=with_permissions,
)
