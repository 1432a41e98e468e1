"""The configuration of plugins is read as a whole, and every mistake in it is named."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apimachinery.fieldpath import FieldError, invalid
from apimachinery.fieldpath import Path as FieldPath
from apimachinery.meta.types import TypeMeta
from apimachinery.model.model import Model, field
from apiserver.admission.configuration import (
    AdmissionConfiguration,
    ConfigurationKind,
    InvalidAdmissionConfiguration,
)
from apiserver.admission.webhook_configuration import WEBHOOK_ADMISSION

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"

Write = Callable[..., Path]


class Lamp(Model):
    watts: int = 0


class LampConfiguration(TypeMeta):
    lamps: list[Lamp] = field(default_factory=list)


def not_too_bright(configuration: LampConfiguration) -> Iterator[FieldError]:
    for position, lamp in enumerate(configuration.lamps):
        if lamp.watts > 100:
            path = FieldPath("lamps").index(position).child("watts")
            yield invalid(path, lamp.watts, "must be at most 100")


LAMPS = ConfigurationKind(
    LampConfiguration, "LampConfiguration", ("lamps.io/v1", "lamps.io/v1beta1"), not_too_bright
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str, name: str = "admission.yaml") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write_file


def refused(file: Path, **kinds: ConfigurationKind[Any] | None) -> list[str]:
    """Return the problems of a file, without its folder."""
    try:
        problems = AdmissionConfiguration.read(file).problems(kinds)
    except InvalidAdmissionConfiguration as error:
        problems = list(error.problems)
    return [problem.replace(f"{file.parent}/", "") for problem in problems]


def test_a_document_is_in_the_file_or_in_one_of_its_own(write: Write) -> None:
    write("apiVersion: lamps.io/v1\nkind: LampConfiguration\nlamps: [{watts: 60}]", "own.yaml")
    file = write(
        f"{HEAD}plugins:\n- name: First\n  path: own.yaml\n"
        "- name: Second\n  path: missing.yaml\n  configuration:"
        " {apiVersion: lamps.io/v1beta1, kind: LampConfiguration, lamps: [{watts: 40}]}\n"
        "- name: Third\n"
    )

    configuration = AdmissionConfiguration.read(file)

    first, second = (configuration.of(name, LAMPS) for name in ("First", "Second"))
    assert first is not None
    assert second is not None
    assert (first.lamps, second.lamps) == ([Lamp(watts=60)], [Lamp(watts=40)])
    assert configuration.of("Third", LAMPS) is None
    assert configuration.problems({"First": LAMPS, "Second": LAMPS, "Third": None}) == []


def test_no_file_configures_nothing() -> None:
    assert AdmissionConfiguration.read(None).of("First", LAMPS) is None


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", ["admission.yaml: must be an object with apiVersion and kind"]),
        ("[]", ["admission.yaml: must be an object with apiVersion and kind"]),
        (
            "{}",
            ["admission.yaml: apiVersion: Required value", "admission.yaml: kind: Required value"],
        ),
        (
            "apiVersion: apiserver.config.k8s.io/v2\nkind: AdmissionConfiguration",
            [
                'admission.yaml: apiVersion: Unsupported value: "apiserver.config.k8s.io/v2":'
                ' supported values: "apiserver.config.k8s.io/v1",'
                ' "apiserver.config.k8s.io/v1alpha1"'
            ],
        ),
        (f"{HEAD}plugin: []", ["admission.yaml: plugin: unknown field"]),
        (f"{HEAD}plugins: {{}}", None),
        (f"{HEAD}plugins: [", None),
        (
            f"{HEAD}plugins: []\nplugins: []",
            ['admission.yaml: yaml: line 4: key "plugins" already set in map'],
        ),
        (
            f"{HEAD}plugins: [{{name: A}}, {{name: A}}, {{}}]",
            [
                'admission.yaml: plugins[1].name: Duplicate value: "A"',
                "admission.yaml: plugins[2].name: Required value",
            ],
        ),
        (
            f"{HEAD}plugins: [{{name: A, path: a.yaml}}]",
            ["admission.yaml: plugins[0].path: a.yaml: cannot be read: No such file or directory"],
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(
    write: Write, text: str, problems: list[str] | None
) -> None:
    found = refused(write(text))

    assert found
    assert problems is None or found == problems


def test_all_mistakes_in_all_documents_are_named(write: Write) -> None:
    write("apiVersion: lamps.io/v1\nkind: LampConfiguration\nlamps: [{watts: 600}]", "own.yaml")
    file = write(
        f"{HEAD}plugins:\n- name: First\n  path: own.yaml\n"
        "- name: Second\n  configuration:"
        " {apiVersion: lamps.io/v1, kind: LampConfiguration, lamps: [{watts: 1, color: red}]}\n"
        "- name: Third\n  configuration: {}\n"
        "- name: Fourth\n  configuration: {}\n"
    )

    assert refused(file, First=LAMPS, Second=LAMPS, Third=None) == [
        "own.yaml: lamps[0].watts: Invalid value: 600: must be at most 100",
        "admission.yaml: plugins[1].configuration.lamps[0].color: unknown field",
        "admission.yaml: plugins: the admission plugin Third takes no configuration",
        "admission.yaml: plugins: the admission plugin Fourth is not known to this server",
    ]


def test_values_of_wrong_types_are_named(write: Write) -> None:
    file = write(
        f"{HEAD}plugins:\n- name: A\n  configuration:"
        " {apiVersion: lamps.io/v1, kind: LampConfiguration, lamps: [{watts: bright}]}\n"
    )

    [problem] = refused(file, A=LAMPS)

    assert problem.startswith("admission.yaml: plugins[0].configuration.")
    assert "lamps.watts" in problem


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        (
            "kubeConfigFile: users.yaml",
            'kubeConfigFile: Invalid value: "users.yaml": must be an absolute file path',
        ),
        (
            "staticManifestsDir: /etc",
            "staticManifestsDir: Forbidden: staticManifestsDir requires the"
            " ManifestBasedAdmissionControlConfig feature gate to be enabled",
        ),
    ],
)
def test_webhooks_are_configured_as_in_kubernetes(write: Write, field: str, rule: str) -> None:
    file = write(
        f"{HEAD}plugins:\n- name: W\n  configuration:\n"
        "    apiVersion: apiserver.config.k8s.io/v1\n"
        f"    kind: WebhookAdmissionConfiguration\n    {field}\n"
    )

    assert refused(file, W=WEBHOOK_ADMISSION) == [
        f"admission.yaml: plugins[0].configuration.{rule}"
    ]
