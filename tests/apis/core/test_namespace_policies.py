"""LimitRanges and ResourceQuotas: defaults, what is wrong with one, what may change, and rows."""

from typing import Any

import pytest

from apimachinery.names import is_qualified_name
from apis.core import v1
from apis.core.install_full import LIMIT_RANGES, RESOURCE_QUOTAS
from apis.core.quota.types import ResourceQuota
from apis.core.strategy.limit_range import LimitRangeStrategy
from apis.core.strategy.resource_quota import ResourceQuotaStrategy
from tests.apis.validating import decoded, messages

(NO_NAME, *_) = is_qualified_name("")


def limit_range(*items: dict[str, Any]) -> v1.LimitRange:
    return decoded(v1.LimitRange, {"metadata": {"name": "a"}, "spec": {"limits": list(items)}})


def limit_errors(*items: dict[str, Any]) -> list[str]:
    return messages(LimitRangeStrategy().validate(limit_range(*items)))


def quota(spec: dict[str, Any], status: dict[str, Any] | None = None) -> ResourceQuota:
    document = {"metadata": {"name": "a"}, "spec": spec, "status": status or {}}
    return decoded(ResourceQuota, document)


def quota_errors(**spec: Any) -> list[str]:
    return messages(ResourceQuotaStrategy().validate(quota(spec)))


def container(**bounds: dict[str, str]) -> dict[str, Any]:
    return {"type": "Container", **bounds}


def test_the_defaults_of_containers_follow_from_the_bounds() -> None:
    (item,) = limit_range(container(max={"cpu": "2"}, min={"memory": "1Gi"})).spec.limits

    assert item.model_dump(by_alias=True, mode="json") == {
        "type": "Container",
        "max": {"cpu": "2"},
        "min": {"memory": "1Gi"},
        "default": {"cpu": "2"},
        "defaultRequest": {"cpu": "2", "memory": "1Gi"},
    }


def test_the_limits_of_pods_have_no_defaults() -> None:
    (item,) = limit_range({"type": "Pod", "max": {"cpu": "2"}}).spec.limits

    assert item.default == item.default_request == {}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (container(max={"cpu": "2"}), []),
        ({"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}}, []),
        ({"type": "example.com/lamp", "max": {"cpu": "1"}}, []),
        (
            {"type": ""},
            [f'spec.limits[0].type: Invalid value: "": {error}' for error in is_qualified_name("")],
        ),
        (
            {"type": "Odd"},
            [
                'spec.limits[0].type: Invalid value: "Odd":'
                " must be a standard limit type or fully qualified"
            ],
        ),
        (
            {"type": "Pod", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}},
            [
                "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
                "spec.limits[0].defaultRequest: Forbidden:"
                " may not be specified when `type` is 'Pod'",
            ],
        ),
        (
            {"type": "PersistentVolumeClaim"},
            [
                "spec.limits[0].limits: Required value: either minimum or maximum storage value"
                " is required, but neither was provided"
            ],
        ),
        (
            {"type": "Pod", "max": {"storage": "1"}},
            [
                'spec.limits[0].max[storage]: Invalid value: "storage":'
                " must be a standard resource for containers"
            ],
        ),
        (
            container(min={"cpu": "2"}, max={"cpu": "1"}, default={"cpu": "1"}),
            [
                'spec.limits[0].min[cpu]: Invalid value: "2":'
                " min value 2 is greater than max value 1",
                'spec.limits[0].defaultRequest[cpu]: Invalid value: "1":'
                " min value 2 is greater than default request value 1",
                'spec.limits[0].default[cpu]: Invalid value: "2":'
                " min value 2 is greater than default value 1",
            ],
        ),
        (
            container(max={"cpu": "1"}, default={"cpu": "2"}),
            [
                'spec.limits[0].defaultRequest[cpu]: Invalid value: "2":'
                " default request value 2 is greater than max value 1",
                'spec.limits[0].default[cpu]: Invalid value: "1":'
                " default value 2 is greater than max value 1",
            ],
        ),
        (
            container(maxLimitRequestRatio={"cpu": "800m"}),
            [
                'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "800m":'
                " ratio 800m is less than 1"
            ],
        ),
        (
            {
                "type": "Pod",
                "min": {"cpu": "1"},
                "max": {"cpu": "2"},
                "maxLimitRequestRatio": {"cpu": "3"},
            },
            [
                'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3":'
                " ratio 3 is greater than max/min = 2.000000"
            ],
        ),
        (
            container(default={"hugepages-2Mi": "4Mi"}, defaultRequest={"hugepages-2Mi": "2Mi"}),
            [
                'spec.limits[0].defaultRequest[hugepages-2Mi]: Invalid value: "2Mi":'
                " default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi"
            ],
        ),
    ],
)
def test_limits(item: dict[str, Any], expected: list[str]) -> None:
    assert limit_errors(item) == expected


def test_each_type_has_one_item() -> None:
    assert limit_errors({"type": "Pod"}, {"type": "Pod"}) == [
        'spec.limits[1].type: Duplicate value: "Pod"'
    ]


def test_limit_ranges_have_no_columns_of_their_own() -> None:
    assert [column.name for column in LIMIT_RANGES.columns] == ["Name", "Created At"]


EXISTS_ONLY = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
    " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
    " ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"hard": {"pods": "10", "requests.cpu": "1", "count/deployments.apps": "2"}}, []),
        (
            {"hard": {"storage": "1"}},
            ['spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
        ),
        (
            {"hard": {"odd": "1"}},
            [
                'spec.hard[odd]: Invalid value: "odd":'
                " must be a standard resource type or fully qualified",
                'spec.hard[odd]: Invalid value: "odd": must be a standard resource for quota',
            ],
        ),
        (
            {"hard": {"pods": "-1"}},
            ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (
            {"hard": {"pods": "1500m"}},
            ['spec.hard[pods]: Invalid value: "1500m": must be an integer'],
        ),
        ({"scopes": ["Odd"]}, ['spec.scopes: Invalid value: ["Odd"]: unsupported scope']),
        (
            {"scopes": ["BestEffort"], "hard": {"cpu": "1", "pods": "1"}},
            ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
        ),
        (
            {"scopes": ["Terminating", "NotTerminating"]},
            ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
        ),
        (
            {"scopeSelector": {"matchExpressions": [{"scopeName": "Odd", "operator": "Odd"}]}},
            [
                'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd":'
                " unsupported scope",
                'spec.scopeSelector.matchExpressions.operator: Invalid value: "Odd":'
                " not a valid selector operator",
            ],
        ),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]
                }
            },
            [
                "spec.scopeSelector.matchExpressions.values: Required value: must be at least one"
                " value when `operator` is 'In' or 'NotIn' for scope selector"
            ],
        ),
        (
            {
                "hard": {"services": "1"},
                "scopeSelector": {
                    "matchExpressions": [
                        {"scopeName": "BestEffort", "operator": "In", "values": ["a"]}
                    ]
                },
            },
            [
                "spec.scopeSelector.matchExpressions: Invalid value:"
                ' {"MatchExpressions":[{"ScopeName":"BestEffort","Operator":"In","Values":["a"]}]}:'
                " unsupported scope applied to resource",
                'spec.scopeSelector.matchExpressions.operator: Invalid value: "In": ' + EXISTS_ONLY,
            ],
        ),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [
                        {"scopeName": "PriorityClass", "operator": "Exists", "values": ["a"]}
                    ]
                }
            },
            [
                'spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no value'
                " when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            ],
        ),
    ],
)
def test_quotas(spec: dict[str, Any], expected: list[str]) -> None:
    assert quota_errors(**spec) == expected


def test_scopes_cannot_change() -> None:
    found = ResourceQuotaStrategy().validate_update(
        quota({"scopes": ["BestEffort"]}), quota({"scopes": ["Terminating"]})
    )

    assert messages(found) == ['spec.scopes: Invalid value: ["BestEffort"]: field is immutable']


def test_the_status_is_validated() -> None:
    changed = quota({}, {"hard": {"pods": "1500m"}, "used": {"odd": "-1"}})

    assert messages(ResourceQuotaStrategy().validate_status_update(changed, quota({}))) == [
        'status.hard[pods]: Invalid value: "1500m": must be an integer',
        'status.used[odd]: Invalid value: "odd":'
        " must be a standard resource type or fully qualified",
        'status.used[odd]: Invalid value: "odd": must be a standard resource for quota',
        'status.used[odd]: Invalid value: "-1": must be greater than or equal to 0',
    ]


def test_requests_above_limits_are_warned_about() -> None:
    hard = {"cpu": "2", "limits.cpu": "1", "requests.memory": "1Gi", "limits.memory": "2Gi"}
    found = quota({"hard": hard})

    assert list(ResourceQuotaStrategy().warnings(found)) == [
        "ResourceQuota cpu (2) should be less than limits.cpu (1)"
    ]
    assert not list(ResourceQuotaStrategy().warnings(found, found))


def test_a_row_shows_what_is_used_of_what_is_allowed() -> None:
    hard = {"requests.cpu": "2", "pods": "10", "limits.cpu": "4"}
    found = quota({}, {"hard": hard, "used": {"pods": "3", "limits.cpu": "500m"}})

    assert {column.name: column.cell(found) for column in RESOURCE_QUOTAS.columns} == {
        "Request": "pods: 3/10, requests.cpu: 0/2",
        "Limit": "limits.cpu: 500m/4",
    }
