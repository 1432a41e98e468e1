"""RuntimeClasses: the column, and warnings about labels of nodes."""

from apis.node.printers import RUNTIME_CLASS_COLUMNS
from apis.node.strategy import RuntimeClassStrategy
from apis.node.v1 import RuntimeClass
from tests.apis.validating import decoded

STRATEGY = RuntimeClassStrategy()


def test_columns() -> None:
    made = RuntimeClass(handler="runc")

    assert {c.name: c.cell(made) for c in RUNTIME_CLASS_COLUMNS} == {"Handler": "runc"}


def test_deprecated_labels_of_nodes_are_warned_of() -> None:
    selector = {"beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm", "a": "b"}
    made = decoded(RuntimeClass, {"handler": "h", "scheduling": {"nodeSelector": selector}})

    assert list(STRATEGY.warnings(made)) == [
        'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/arch" instead',
        'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]
    assert list(STRATEGY.warnings(RuntimeClass(handler="h"))) == []


def test_a_class_has_no_generation() -> None:
    assert STRATEGY.desired_state(RuntimeClass()) is None
    assert STRATEGY.allow_create_on_update
    assert not STRATEGY.allow_unconditional_update
