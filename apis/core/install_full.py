"""The whole core group of Kubernetes: the resources that every server has, and the others.

Each resource is a constant here, in alphabetical order, and `FULL_CORE` lists them all.
"""

from dataclasses import replace
from typing import Final

from apis.core.install import (
    CONFIG_MAPS,
    CORE,
    EVENTS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from apis.core.register_full import add_to_scheme

FULL_CORE: Final = replace(
    CORE,
    add_to_scheme=add_to_scheme,
    resources=(
        CONFIG_MAPS,
        EVENTS,
        NAMESPACES,
        SECRETS,
        SERVICE_ACCOUNTS,
        SERVICES,
    ),
)
