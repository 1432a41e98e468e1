from apis.apiregistration.v1.types import (
    APIService,
    APIServiceCondition,
    APIServiceSpec,
    APIServiceStatus,
    ServiceReference,
)

__all__ = [
    "APIService",
    "APIServiceCondition",
    "APIServiceSpec",
    "APIServiceStatus",
    "ServiceReference",
]
