"""Jobs: defaults, the generated selector, what is wrong with one, and what may change."""

from typing import Any

import pytest

from apis.batch.strategy import JobStrategy
from tests.apis.batch.jobs import LABELS, UID, created, read, template
from tests.apis.validating import messages

STRATEGY = JobStrategy()
NOT_NEGATIVE = "must be greater than or equal to 0"
INDEXED: dict[str, Any] = {"completionMode": "Indexed", "completions": 5, "parallelism": 2}
NEEDS_INDEXES = "requires indexed completion mode"


def errors(**spec: Any) -> list[str]:
    return messages(STRATEGY.validate(created(spec)))


def update_errors(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    before, after = created(old), created({**(old or {}), **new})
    return messages(STRATEGY.validate_update(after, before))


def test_the_smallest_job_gets_its_defaults() -> None:
    spec = created().spec.model_dump(by_alias=True, mode="json")

    assert spec.pop("template")["metadata"] == {"labels": LABELS}
    assert spec == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}},
        "manualSelector": False,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"parallelism": 3}, {"parallelism": 3, "completions": None}),
        ({"completions": 3}, {"parallelism": 1, "completions": 3}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2147483647}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
        ({"suspend": True}, {"suspend": True}),
    ],
)
def test_defaults_depend_on_the_rest(spec: dict[str, Any], expected: dict[str, Any]) -> None:
    found = read(spec).spec.model_dump(by_alias=True, mode="json")

    assert {name: found.get(name) for name in expected} == expected


def test_a_condition_pattern_matches_true() -> None:
    policy = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "A"}]}]}

    found = read({"podFailurePolicy": policy}).spec.pod_failure_policy

    assert found is not None
    assert found.rules[0].on_pod_conditions[0].status == "True"


@pytest.mark.parametrize(
    ("job_labels", "pod_labels", "expected"),
    [
        ({}, {}, LABELS),
        ({}, {"a": "b"}, {"a": "b", **LABELS}),
        ({"x": "y"}, {"a": "b"}, {"x": "y"}),
    ],
)
def test_a_job_without_labels_gets_those_of_its_pods(
    job_labels: dict[str, str], pod_labels: dict[str, str], expected: dict[str, str]
) -> None:
    job = created({"template": template(pod_labels)}, labels=job_labels)

    assert job.metadata.labels == expected


def test_a_manual_selector_is_kept() -> None:
    spec = {
        "manualSelector": True,
        "selector": {"matchLabels": {"a": "b"}},
        "template": template({"a": "b"}),
    }

    job = created(spec)

    assert job.spec.template.metadata.labels == {"a": "b"}
    assert messages(STRATEGY.validate(job)) == []


def test_the_scheduling_of_groups_is_dropped() -> None:
    scheduling = {"schedulingPolicy": {"gang": {"minCount": 2}}}

    assert created({"scheduling": scheduling}).spec.scheduling is None


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (
            {
                "parallelism": -1,
                "completions": -2,
                "activeDeadlineSeconds": -3,
                "backoffLimit": -4,
                "ttlSecondsAfterFinished": -5,
            },
            [
                f"spec.{name}: Invalid value: {value}: {NOT_NEGATIVE}"
                for name, value in (
                    ("parallelism", -1),
                    ("completions", -2),
                    ("activeDeadlineSeconds", -3),
                    ("backoffLimit", -4),
                    ("ttlSecondsAfterFinished", -5),
                )
            ],
        ),
        (
            {"template": template(restartPolicy="Always")},
            [
                "spec.template.spec.restartPolicy: Required value:"
                ' valid values: "OnFailure", "Never"'
            ],
        ),
        (
            {"template": template(containers=[])},
            ["spec.template.spec.containers: Required value"],
        ),
        (
            {"template": template({"job-name": "other"})},
            [
                'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/'
                f'controller-uid":"{UID}","batch.kubernetes.io/job-name":"sum","controller-uid":'
                f'"{UID}","job-name":"other"}}: must be \'sum\''
            ],
        ),
        (
            {"selector": {"matchLabels": {"a": "b"}}, "template": template({"a": "b"})},
            [
                'spec.selector: Invalid value: {"matchLabels":{"a":"b",'
                f'"batch.kubernetes.io/controller-uid":"{UID}"}}}}: `selector` not auto-generated'
            ],
        ),
        (
            {"manualSelector": True, "template": template({"a": "b"})},
            [
                "spec.selector: Required value",
                'spec.template.metadata.labels: Invalid value: {"a":"b"}:'
                " `selector` does not match template `labels`",
            ],
        ),
        (
            {"completionMode": "Some"},
            [
                'spec.completionMode: Unsupported value: "Some":'
                ' supported values: "NonIndexed", "Indexed"'
            ],
        ),
        (
            {"completionMode": "Indexed", "parallelism": 100_001},
            [
                "spec.completions: Required value: when completion mode is Indexed",
                "spec.parallelism: Invalid value: 100001:"
                " must be less than or equal to 100000 when completion mode is Indexed",
            ],
        ),
        (
            {"backoffLimitPerIndex": 1, "maxFailedIndexes": 2},
            [
                f"spec.backoffLimitPerIndex: Invalid value: 1: {NEEDS_INDEXES}",
                f"spec.maxFailedIndexes: Invalid value: 2: {NEEDS_INDEXES}",
            ],
        ),
        (
            {**INDEXED, "maxFailedIndexes": 9},
            [
                "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
                "spec.maxFailedIndexes: Invalid value: 9:"
                " must be less than or equal to completions",
            ],
        ),
        (
            {
                "completionMode": "Indexed",
                "completions": 200_000,
                "parallelism": 10_001,
                "backoffLimitPerIndex": 1,
            },
            [
                "spec.maxFailedIndexes: Required value:"
                " must be specified when completions is above 100000",
                "spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when"
                " completions are above 100000 and used with backoff limit per index",
            ],
        ),
        (
            {"podReplacementPolicy": "Never"},
            [
                'spec.podReplacementPolicy: Unsupported value: "Never":'
                ' supported values: "Failed", "TerminatingOrFailed"'
            ],
        ),
        ({"managedBy": ""}, ["spec.managedBy: Required value"]),
        (
            {"managedBy": "me"},
            [
                'spec.managedBy: Invalid value: "me":'
                ' must be a domain-prefixed path (such as "acme.io/foo")'
            ],
        ),
        (
            {"managedBy": "acme.io/" + "a" * 60},
            ["spec.managedBy: Too long: may not be more than 63 bytes"],
        ),
        (
            {"successPolicy": {"rules": [{"succeededCount": 1}]}},
            [
                'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,'
                f'"SucceededCount":1}}]}}: {NEEDS_INDEXES}'
            ],
        ),
    ],
)
def test_rules(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors(**spec) == expected


def rule_errors(*rules: dict[str, Any], **spec: Any) -> list[str]:
    found = errors(podFailurePolicy={"rules": list(rules)}, **spec)
    return [error.removeprefix("spec.podFailurePolicy.") for error in found]


ACTIONS = '"Count", "FailIndex", "FailJob", "Ignore"'


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"action": "Ignore", "onExitCodes": {"operator": "NotIn", "values": [0, 1]}}, []),
        (
            {},
            [
                'action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
                ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            ],
        ),
        (
            {"action": "Retry", "onExitCodes": {"values": []}},
            [
                f'action: Unsupported value: "Retry": supported values: {ACTIONS}',
                'onExitCodes.operator: Required value: valid values: ["In" "NotIn"]',
                "onExitCodes.values: Invalid value: []: at least one value is required",
            ],
        ),
        (
            {
                "action": "FailIndex",
                "onExitCodes": {"operator": "In", "containerName": "x", "values": [2, 0, 2]},
            },
            [
                'action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
                'onExitCodes.containerName: Invalid value: "x":'
                " must be one of the container or initContainer names in the pod template",
                "onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                "onExitCodes.values[2]: Duplicate value: 2",
                "onExitCodes.values: Invalid value: [2,0,2]: must be ordered",
            ],
        ),
        (
            {
                "action": "Count",
                "onExitCodes": {"operator": "Is", "values": [1]},
                "onPodConditions": [{"type": "A", "status": "Maybe"}],
            },
            [
                'onExitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
                'onPodConditions[0].status: Unsupported value: "Maybe":'
                ' supported values: "False", "True", "Unknown"',
                ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported",
            ],
        ),
    ],
)
def test_rules_of_a_failure_policy(rule: dict[str, Any], expected: list[str]) -> None:
    prefixed = [f"rules[0]{'' if error[0] == ':' else '.'}{error}" for error in expected]

    assert rule_errors(rule) == prefixed


def test_the_rules_of_a_failure_policy_are_limited() -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "A"}] * 21}

    assert rule_errors(*[rule] * 21)[:2] == [
        "rules: Too many: 21: must have at most 20 items",
        "rules[0].onPodConditions: Too many: 21: must have at most 20 items",
    ]


def test_a_failure_policy_needs_pods_that_are_not_restarted() -> None:
    found = rule_errors(
        podReplacementPolicy="TerminatingOrFailed", template=template(restartPolicy="OnFailure")
    )

    assert found == [
        'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed":'
        ' supported values: "Failed"',
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure":'
        ' only "Never" is supported when podFailurePolicy is specified',
    ]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([{"succeededIndexes": "0-2,4", "succeededCount": 4}], []),
        (
            [],
            [
                "rules: Required value: at least one rules must be specified when the"
                " successPolicy is specified"
            ],
        ),
        (
            [{}],
            [
                "rules[0]: Required value: at least one of succeededCount or succeededIndexes"
                " must be specified"
            ],
        ),
        (
            [{"succeededCount": 6}],
            [
                "rules[0].succeededCount: Invalid value: 6: must be less than or equal to 5 (the"
                " number of specified completions)"
            ],
        ),
        (
            [{"succeededIndexes": "0-1", "succeededCount": 3}],
            [
                "rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the"
                " number of indexes in the specified succeededIndexes field)"
            ],
        ),
        *(
            (
                [{"succeededIndexes": text}],
                [
                    f'rules[0].succeededIndexes: Invalid value: "{text}":'
                    f" error parsing succeededIndexes: {reason}"
                ],
            )
            for text, reason in (
                ("a", 'cannot convert string to integer for index: "a"'),
                ("5", 'too large index: "5"'),
                ("3,1", "non-increasing order, previous: 3, current: 1"),
                ("3-3", "non-increasing order, previous: 3, current: 3"),
                (
                    "1-2-3",
                    'the fragment "1-2-3" violates the requirement that an index interval can'
                    " have at most two parts separated by '-'",
                ),
            )
        ),
    ],
)
def test_rules_of_a_success_policy(rules: list[dict[str, Any]], expected: list[str]) -> None:
    found = errors(**INDEXED, successPolicy={"rules": rules})

    assert found == [f"spec.successPolicy.{error}" for error in expected]


def test_pods_of_an_indexed_job_need_host_names() -> None:
    name = "a" * 62
    job = created(INDEXED, name=name)

    assert messages(STRATEGY.validate(job)) == [
        f'metadata.name: Invalid value: "{name}": will not able to create pod with invalid DNS'
        f" label: {name}-4"
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"parallelism": 5},
        {"activeDeadlineSeconds": 5, "backoffLimit": 5, "ttlSecondsAfterFinished": 5},
        {"suspend": True},
        {"podReplacementPolicy": "Failed"},
    ],
)
def test_what_may_change(spec: dict[str, Any]) -> None:
    assert update_errors(spec, {"completions": 1}) == []


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"completions": 3}, ["spec.completions: Invalid value: 3: field is immutable"]),
        (
            {"completionMode": "Indexed"},
            ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
        ),
        (
            {"managedBy": "acme.io/me"},
            ['spec.managedBy: Invalid value: "acme.io/me": field is immutable'],
        ),
        (
            {"podFailurePolicy": {"rules": []}},
            ['spec.podFailurePolicy: Invalid value: {"Rules":null}: field is immutable'],
        ),
    ],
)
def test_what_may_not_change(spec: dict[str, Any], expected: list[str]) -> None:
    assert update_errors(spec, {"completions": 1}) == expected


def test_completions_of_an_indexed_job_change_with_its_parallelism() -> None:
    assert update_errors({"completions": 7, "parallelism": 7}, INDEXED) == []
    assert update_errors({"completions": 7}, INDEXED) == [
        "spec.completions: Invalid value: 7: can only be modified in tandem with spec.parallelism"
    ]


def test_the_template_cannot_be_changed() -> None:
    (error,) = update_errors({"template": template(nodeName="n")})

    assert error.startswith('spec.template: Invalid value: {"labels":{')
    assert error.endswith("field is immutable")


@pytest.mark.parametrize(
    ("pod", "allowed"),
    [
        ({"nodeSelector": {"disk": "ssd"}}, True),
        ({"tolerations": [{"key": "a", "operator": "Exists"}]}, True),
        ({"affinity": {"nodeAffinity": {}}}, True),
        ({"affinity": {"podAffinity": {}}}, False),
        (
            {
                "containers": [
                    {"name": "sum", "image": "sum:1", "resources": {"requests": {"cpu": "1"}}}
                ]
            },
            True,
        ),
        ({"containers": [{"name": "sum", "image": "sum:2"}]}, False),
        ({"nodeName": "n"}, False),
    ],
)
def test_a_suspended_job_can_be_placed(pod: dict[str, Any], allowed: bool) -> None:
    """Tools that queue jobs decide where, and with which resources, their pods run."""
    found = update_errors({"template": template(**pod)}, {"suspend": True})

    assert (found == []) == allowed
    assert all(error.startswith("spec.template.spec: Invalid value: ") for error in found)


def test_a_job_that_has_started_cannot_be_placed() -> None:
    started = {"startTime": "2026-01-01T00:00:00Z"}
    before = created({"suspend": True}, started)
    after = created({"suspend": True, "template": template(nodeSelector={"a": "b"})}, started)

    assert len(messages(STRATEGY.validate_update(after, before))) == 1


def test_warnings() -> None:
    many = {"completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001}
    job = created(many, name="sum.nightly")

    assert list(STRATEGY.warnings(job)) == [
        "metadata.name: this is used in Pod names and hostnames, which can result in surprising"
        " behavior; a DNS label is recommended: [must not contain dots]",
        "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism"
        " higher than 10^4, Kubernetes might not be able to track completedIndexes when a big"
        " number of indexes fail",
    ]
    assert list(STRATEGY.warnings(job, job)) == []
