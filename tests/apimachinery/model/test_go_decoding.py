"""Which error Go's decoder reports, if a document has several."""

import pytest

from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.go_conversion import conversion_error
from apimachinery.model.go_decoding import decoding_error
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.wire_types import Int32


class Disk(Model):
    name: str = ""
    size: Quantity = Quantity(0)


class Computer(Model):
    owner: str = ""
    slots: Int32 = 0
    disks: list[Disk] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


WRONG = "json: cannot unmarshal"


@pytest.mark.parametrize(
    ("document", "value", "place"),
    [
        ('{"slots": "1", "owner": 5}', "string", "Computer.slots of type int32"),
        ('{"owner": 5, "owner": "a"}', "number", "Computer.owner of type string"),
        ('{"disks": [{}, {"name": 1}]}', "number", "Disk.disks.name of type string"),
        ('{"notes": {"a": {}}}', "object", "Computer.notes of type string"),
        ('{"slots": 8e1}', "number 8e1", "Computer.slots of type int32"),
        ('{"slots": 2147483648}', "number 2147483648", "Computer.slots of type int32"),
        ('{"disks": {}}', "object", "Computer.disks of type []test_go_decoding.Disk"),
    ],
)
def test_the_first_value_of_a_wrong_type_is_reported(document: str, value: str, place: str) -> None:
    assert decoding_error(Computer, document) == f"{WRONG} {value} into Go struct field {place}"


def test_nulls_and_unknown_fields_have_no_type() -> None:
    assert not decoding_error(Computer, '{"disks": null, "owner": null, "unknown": 5}')


def test_a_type_with_a_parser_of_its_own_ends_the_decoding() -> None:
    error = decoding_error(Computer, '{"owner": 5, "disks": [{"size": "x"}]}')

    assert error.startswith("quantities must match the regular expression")


def test_a_large_document_is_refused_in_the_same_words() -> None:
    disks = ",".join(['{"name":"a"}'] * 3000)

    with pytest.raises(DecodeError) as refused:
        decode_json(Computer, f'{{"disks":[{disks},{{"name":1}}]}}')

    assert str(refused.value) == (
        f"{WRONG} number into Go struct field Disk.disks.name of type string"
    )


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"disks": {}}, "cannot restore slice from map"),
        ({"disks": [5]}, "cannot restore struct from: int64"),
        ({"notes": []}, "cannot restore map from slice"),
        ({"owner": 5}, "cannot convert int64 to string"),
        ({"owner": 1.5}, "unrecognized type: string"),
        ({"slots": "5"}, "unrecognized type: int32"),
        ({"slots": 1.5}, "cannot convert float64 to int32"),
        ({"slots": 2.0, "owner": None}, ""),
    ],
)
def test_a_conversion_names_kinds_instead_of_fields(document: object, error: str) -> None:
    assert conversion_error(Computer, document) == error


def test_a_class_of_a_module_without_a_package_has_the_names_of_its_own() -> None:
    """Such as the classes of custom resources, and of a group in one file."""
    alone = type("Alone", (Computer,), {"__module__": "alone"})
    missing = type("Missing", (Computer,), {"__module__": "not.there.types"})

    for cls in (alone, missing):
        with pytest.raises(DecodeError, match=f"field {cls.__name__}.owner of type string"):
            decode_json(cls, b'{"owner": 5}', find_unknown=False)
