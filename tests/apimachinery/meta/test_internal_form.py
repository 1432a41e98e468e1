"""Values in error messages, as Kubernetes shows its internal types."""

from typing import Any

import pytest

from apimachinery.fieldpath import NULL, Path, invalid
from apimachinery.meta.internal_form import internal_form
from apimachinery.meta.types import LabelSelector, ObjectMeta
from apimachinery.model.model import Model, field


class Policy(Model):
    """Policies of the pods."""

    dns_policy: str = ""
    limits: dict[str, str] = field(default_factory=dict)
    tty: bool = False


class Template(Model):
    """Pods that are created."""

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    policies: list[Policy] = field(default_factory=list)
    selector: LabelSelector | None = None


def shown(value: Any) -> str:
    return str(invalid(Path("a"), internal_form(value), "b"))


@pytest.mark.parametrize("value", [None, {}, []])
def test_an_unset_value_is_null(value: Any) -> None:
    assert internal_form(value) is NULL
    assert shown(value) == "a: Invalid value: null: b"


def test_fields_have_the_names_of_go_and_are_not_omitted() -> None:
    assert shown(Policy(dns_policy="Default")) == (
        'a: Invalid value: {"DNSPolicy":"Default","Limits":null,"TTY":false}: b'
    )


def test_metadata_is_embedded_and_shared_types_keep_their_names() -> None:
    template = Template(
        metadata=ObjectMeta(labels={"b": "c"}), selector=LabelSelector(match_labels={"b": "c"})
    )

    assert shown(template) == (
        'a: Invalid value: {"labels":{"b":"c"},"Policies":null,'
        '"Selector":{"matchLabels":{"b":"c"}}}: b'
    )
