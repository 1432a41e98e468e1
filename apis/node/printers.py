"""Printer columns of RuntimeClasses."""

from typing import Final

from apis.node.v1 import RuntimeClass
from apiserver import Column


def handler(runtime_class: RuntimeClass) -> str:
    return runtime_class.handler


RUNTIME_CLASS_COLUMNS: Final = (
    Column("Handler", handler, description="Configuration of the runtime on the nodes."),
)
