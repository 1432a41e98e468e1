"""What a bad request is, and the words that the ones of this folder share."""

from typing import Any, Final, NamedTuple

NAMESPACE: Final = "bad-input"
CONFIG_MAPS: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SECRETS: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets"
SERVICES: Final = f"/api/v1/namespaces/{NAMESPACE}/services"
GADGETS: Final = f"/apis/gadgets.example.io/v1/namespaces/{NAMESPACE}/gadgets"
OLD_GADGETS: Final = f"/apis/gadgets.example.io/v1beta1/namespaces/{NAMESPACE}/gadgets"

JSON: Final = "application/json"
YAML: Final = "application/yaml"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY: Final = "application/apply-patch+yaml"

SUBDOMAIN: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


class Bad(NamedTuple):
    """A request and its answer; *about* is what the details name, None if there are none."""

    method: str
    path: str
    media_type: str | None
    body: Any
    code: int
    reason: str
    message: str
    about: dict[str, str] | None
