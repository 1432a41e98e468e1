"""Table: the rows and columns that `kubectl get` prints."""

from typing import Any

from apimachinery.meta.types import ListMeta, TypeMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32, RawExtension


class TableColumnDefinition(Model):
    """A column. One with a *priority* above 0 is printed only with `-o wide`."""

    name: str
    type: str
    format: str
    description: str
    priority: Int32


class TableRowCondition(Model):
    """A condition of a whole row, such as that its object is completed."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


class TableRow(Model):
    """The cells of one object, in the order of the columns, and the object if requested."""

    cells: list[Any]
    conditions: list[TableRowCondition] = field(default_factory=list)
    object: RawExtension | None = None


class Table(TypeMeta):
    """A list of objects as rows.

    In a watch only the first event defines the columns; in later events they are null.
    """

    metadata: ListMeta = field(default_factory=ListMeta)
    column_definitions: list[TableColumnDefinition] | None = field(None, omit_empty=False)
    rows: list[TableRow] = field(default_factory=list, omit_empty=False)
