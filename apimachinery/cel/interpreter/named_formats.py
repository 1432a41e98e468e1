"""Named formats: `format.dns1123Label().validate("a-b")`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from apimachinery import names
from apimachinery.cel.interpreter.networks import URL
from apimachinery.cel.interpreter.overloads import Overload, overload
from apimachinery.cel.interpreter.texts import pattern_length_cost
from apimachinery.cel.interpreter.values import EMPTY, CELError, Opaque, Optional
from apimachinery.structural.formats import format_check

FormatCheck = Callable[[str], list[str]]


@dataclass(frozen=True, eq=False, slots=True)
class NamedFormat(Opaque):
    """A format that texts can be checked for."""

    type_name: ClassVar = "kubernetes.NamedFormat"

    name: str
    check: FormatCheck
    pattern_length: int
    """By which the cost of a check is computed."""


def overloads() -> Iterator[Overload]:
    """Yield the functions of formats."""
    for name, found in _FORMATS.items():
        yield overload(f"format.{name}", "", lambda found=found: found)
    yield overload("format.named", "string", _named)
    yield overload(
        "validate",
        f"{NamedFormat.type_name} string",
        _validate,
        lambda found, text: pattern_length_cost(text, found.pattern_length),
    )


def _named(name: str) -> Optional:
    found = _FORMATS.get(name)
    return EMPTY if found is None else Optional(found, True)


def _validate(found: NamedFormat, text: str) -> Optional:
    problems = found.check(text)
    return Optional(problems, True) if problems else EMPTY


def _prefix(check: FormatCheck) -> FormatCheck:
    return lambda text: check(names.mask_trailing_dash(text))


def _schema_format(name: str, problem: str) -> FormatCheck:
    def check(text: str) -> list[str]:
        is_valid = format_check(name)
        return [] if is_valid is None or is_valid(text) else [problem]

    return check


def _uri(text: str) -> list[str]:
    try:
        URL(text)
    except CELError as error:
        return [str(error).partition("from string: ")[2]]
    return []


_FORMATS: Final[Mapping[str, NamedFormat]] = {
    name: NamedFormat(name, check, length)
    for name, check, length in (
        ("dns1123Label", names.is_dns1123_label, 30),
        ("dns1123Subdomain", names.is_dns1123_subdomain, 60),
        ("dns1035Label", names.is_dns1035_label, 30),
        ("qualifiedName", names.is_qualified_name, 60),
        ("dns1123LabelPrefix", _prefix(names.is_dns1123_label), 30),
        ("dns1123SubdomainPrefix", _prefix(names.is_dns1123_subdomain), 60),
        ("dns1035LabelPrefix", _prefix(names.is_dns1035_label), 30),
        ("labelValue", names.is_label_value, 40),
        ("uri", _uri, 1000),
        ("uuid", _schema_format("uuid", "does not match the UUID format"), 75),
        ("byte", _schema_format("byte", "invalid base64"), 88),
        ("date", _schema_format("date", "invalid date"), 130),
        ("datetime", _schema_format("datetime", "invalid datetime"), 130),
    )
}
