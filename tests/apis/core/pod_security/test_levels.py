"""Labels choose the policy of a namespace."""

import pytest

from apis.core.pod_security.levels import PREFIX, LevelVersion, Policy, parse_level, policy_of

DEFAULT = Policy()


def chosen(labels: dict[str, str], default: Policy = DEFAULT) -> tuple[str, str, str]:
    policy, _ = policy_of({PREFIX + name: value for name, value in labels.items()}, default)
    return str(policy.enforce), str(policy.audit), str(policy.warn)


PRIVILEGED = "privileged:latest"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, (PRIVILEGED, PRIVILEGED, PRIVILEGED)),
        ({"enforce": "baseline"}, ("baseline:latest", PRIVILEGED, "baseline:latest")),
        (
            {"enforce": "baseline", "enforce-version": "v1.5"},
            ("baseline:v1.5", PRIVILEGED, "baseline:v1.5"),
        ),
        (
            {"enforce": "baseline", "enforce-version": "v1.5", "warn-version": "v1.9"},
            ("baseline:v1.5", PRIVILEGED, "baseline:v1.9"),
        ),
        (
            {"enforce": "restricted", "warn": "baseline"},
            ("restricted:latest", PRIVILEGED, "baseline:latest"),
        ),
        ({"audit": "baseline", "audit-version": "v1.0"}, (PRIVILEGED, "baseline:v1.0", PRIVILEGED)),
        ({"enforce": "strict"}, ("restricted:latest", PRIVILEGED, PRIVILEGED)),
        ({"warn": "strict", "audit": "strict"}, (PRIVILEGED, PRIVILEGED, PRIVILEGED)),
        (
            {"enforce": "baseline", "enforce-version": "1.5"},
            ("baseline:latest", PRIVILEGED, "baseline:latest"),
        ),
    ],
)
def test_labels_choose(labels: dict[str, str], expected: tuple[str, str, str]) -> None:
    assert chosen(labels) == expected


def test_a_default_holds_for_modes_without_a_label() -> None:
    default = Policy(warn=LevelVersion(parse_level("restricted")))

    assert chosen({"enforce": "baseline"}, default) == (
        "baseline:latest",
        PRIVILEGED,
        "restricted:latest",
    )


@pytest.mark.parametrize(
    "text", ["v1.01", "v2.0", "1.0", "v1", "v1.x", "v1." + "9" * 30, "v1.\uff11"]
)
def test_versions_that_are_none(text: str) -> None:
    _, errors = policy_of({f"{PREFIX}enforce-version": text}, DEFAULT)

    assert [error.field for error in errors] == [f"metadata.labels[{PREFIX}enforce-version]"]
    assert 'must be "latest" or "v1.x"' in str(errors[0])
