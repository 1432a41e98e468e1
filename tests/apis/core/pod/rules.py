"""Rules in Kubernetes' words that many tables of errors repeat."""

from typing import Final

LABEL: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric "
    "characters or '-', and must start and end with an alphanumeric character (e."
    "g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
QUALIFIED: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and "
    "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my."
    "name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE: Final = (
    "a valid label must be an empty string or consist of alphanumeric "
    "characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
UNDERSCORED: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '_', '-' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'example.com', regex used for validation is "
    "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
)
CONFIG_KEY: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation "
    "is '[-._a-zA-Z0-9]+')"
)
HTTP_HEADER: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
    "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
)
ENV_NAME: Final = (
    "a valid environment variable name must consist only of printable ASCII "
    "characters other than '='"
)
PORT_RANGE: Final = "must be between 1 and 65535, inclusive"
ID_RANGE: Final = "must be between 0 and 2147483647, inclusive"
FILE_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
NOT_NEGATIVE: Final = "must be greater than or equal to 0"
PROFILE_TYPES: Final = 'supported values: "Localhost", "RuntimeDefault", "Unconfined"'
NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"
ONE_TYPE: Final = "may not specify more than 1 volume type"
ONE_HANDLER: Final = "may not specify more than 1 handler type"
BYTE_DIVISORS: Final = (
    "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, "
    "1Ei are supported with the"
)
SIDECARS_ONLY: Final = "may not be set for init containers without restartPolicy=Always"
HOST_PORT_PAIRS: Final = "must be a host:port pair or multiple pairs separated by commas"
NOT_LOCAL: Final = "must not be specified when labelSelector is not set"
FIXED: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec."
    "tolerations` (only additions to existing tolerations),`spec."
    "terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)"
)
NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"
NOT_REVIVED: Final = "may not be transitioned to non-terminated state"
