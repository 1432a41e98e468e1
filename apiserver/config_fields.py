"""Config fields: marshmallow fields that parse and validate single settings.

Kept apart from ServerConfig because the rules are the same for every source: flags and environment
variables are strings, a file also holds numbers, booleans and lists.
"""

from pathlib import Path
from typing import Any, Final

import marshmallow

from apiserver.process.address import Address, InvalidAddress, parse_address


class NonEmptyString(marshmallow.fields.Field[str]):
    rule = "must be a non-empty string"

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> str:
        if not isinstance(value, str) or not value:
            raise marshmallow.ValidationError(self.rule)
        return value


class Choice(NonEmptyString):
    def __init__(self, choices: tuple[str, ...]) -> None:
        super().__init__()
        self.choices = choices
        self.rule = f"must be one of {', '.join(choices)}"

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> str:
        if value not in self.choices:
            raise marshmallow.ValidationError(self.rule)
        return str(value)


class ExistingFile(marshmallow.fields.Field[Path]):
    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> Path:
        if not isinstance(value, str) or not value:
            raise marshmallow.ValidationError("must be the path of a file")
        path = Path(value).expanduser()
        if not path.is_file():
            raise marshmallow.ValidationError("file does not exist")
        return path


class FolderPath(marshmallow.fields.Field[Path]):
    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> Path:
        if not isinstance(value, str) or not value:
            raise marshmallow.ValidationError("must be the path of a folder")
        path = Path(value).expanduser()
        if path.exists() and not path.is_dir():
            raise marshmallow.ValidationError("exists and is not a folder")
        return path


class AddressField(marshmallow.fields.Field[Address]):
    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> Address:
        try:
            return parse_address(str(value))
        except InvalidAddress as error:
            raise marshmallow.ValidationError(str(error)) from None


class Integer(marshmallow.fields.Field[int]):
    def __init__(self, minimum: int, maximum: int) -> None:
        super().__init__()
        self.minimum, self.maximum = minimum, maximum

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> int:
        rule = f"must be an integer from {self.minimum} to {self.maximum}"
        text = str(value)
        if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) < 10):
            raise marshmallow.ValidationError(rule)
        if not self.minimum <= int(text) <= self.maximum:
            raise marshmallow.ValidationError(rule)
        return int(text)


class Boolean(marshmallow.fields.Field[bool]):
    words: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> bool:
        if isinstance(value, bool):
            return value
        boolean = self.words.get(value.lower()) if isinstance(value, str) else None
        if boolean is None:
            raise marshmallow.ValidationError("must be true or false")
        return boolean


class StringList(marshmallow.fields.Field[tuple[str, ...]]):
    """A list of strings; from the environment, a comma-separated string."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> tuple[str, ...]:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise marshmallow.ValidationError("must be a list of strings")
        return tuple(stripped for item in items if (stripped := item.strip()))


class NameList(StringList):
    """A list of names: a repeated flag, or as kube-apiserver takes it, one with commas."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> tuple[str, ...]:
        items = ",".join(super()._deserialize(value, attr, data)).split(",")
        return tuple(stripped for item in items if (stripped := item.strip()))


class ServiceRangeList(StringList):
    """One IP range for services, or one of each IP family."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> tuple[str, ...]:
        # Imported late, like all that the master needs for few configurations only.
        from apimachinery.ip_addresses import is_canonical_cidr

        # A repeated flag, or as kube-apiserver takes it, one with a comma.
        items = tuple(",".join(super()._deserialize(value, attr, data)).split(","))
        for item in items:
            for error in is_canonical_cidr(item):
                raise marshmallow.ValidationError(f"{item!r}: {error}")
        families = {":" in item for item in items}
        if not items or len(items) != len(families):
            raise marshmallow.ValidationError("must be one range, or one of each IP family")
        return items


class PortRangeField(NonEmptyString):
    """A range of ports, `first-last`."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> str:
        text = super()._deserialize(value, attr, data)
        first, _separator, last = text.partition("-")
        numbers = [int(number) if number.isdecimal() else 0 for number in (first, last)]
        if not 1 <= numbers[0] <= numbers[1] <= 65535:
            raise marshmallow.ValidationError(
                "must be a range of ports between 1 and 65535, such as 30000-32767"
            )
        return text


class FieldPathList(StringList):
    """A list of fields of resources, as `--accept-field-loss` takes them."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> tuple[str, ...]:
        from apiserver.evolution.accepted_loss import AcceptedLoss

        items = super()._deserialize(value, attr, data)
        try:
            AcceptedLoss.parse(items)
        except ValueError as error:
            raise marshmallow.ValidationError(str(error)) from None
        return items


class ExistingFileList(marshmallow.fields.Field[tuple[Path, ...]]):
    """A list of files; from the environment, a comma-separated string."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> tuple[Path, ...]:
        field = ExistingFile()
        return tuple(field.deserialize(item) for item in StringList().deserialize(value))
