"""Gnostic: OpenAPI documents encoded as protobuf, for clients that request it.

kubectl up to 1.28 reads `/openapi/v2` in this form.

A JSON document becomes an `openapi.v2.Document` or `openapi.v3.Document` message. Where the type of
a JSON value depends on its content (a reference, a body parameter, a list of types), the message
has a field per type, and this module has a rule that selects it. All other values follow the
tables of messages in `gnostic_v2` and `gnostic_v3`.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import EncodeError, Message

from apimachinery.openapi.gnostic_v2 import V2, Tables, message_class
from apimachinery.openapi.gnostic_v3 import V3
from apimachinery.openapi.openapi_errors import InvalidDocument

_MAX_DEPTH: Final = 150
# Characters that are valid in JSON strings but not in YAML, such as Unicode line breaks.
_NOT_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_PARAMETER_PLACES: Final = {
    "formData": "form_data_parameter_sub_schema",
    "header": "header_parameter_sub_schema",
    "path": "path_parameter_sub_schema",
    "query": "query_parameter_sub_schema",
}
_FLOWS: Final = {
    "accessCode": "oauth2_access_code_security",
    "application": "oauth2_application_security",
    "implicit": "oauth2_implicit_security",
    "password": "oauth2_password_security",
}


class GnosticEncoder:
    """Encodes documents of one OpenAPI version as protobuf.

    Create it once and reuse it: the constructor builds the descriptors of all messages.
    """

    def __init__(self, tables: Tables = V2) -> None:
        self._document = message_class(tables)

    @property
    def message_class(self) -> type[Message]:
        """Return the message class of the document, to decode encoded documents with."""
        return self._document

    def encode(self, document: Mapping[str, Any]) -> bytes:
        """Encode a document; equal documents have equal bytes.

        Raises InvalidDocument if the document is not valid OpenAPI.
        """
        message = self._document()
        _fill(message, document, ())
        try:
            return message.SerializeToString(deterministic=True)
        except (EncodeError, ValueError) as error:
            raise InvalidDocument("$", f"cannot be encoded as protobuf: {error}") from None


Place = tuple[str, ...]


def _fill(message: Any, value: Any, place: Place) -> None:
    """Fill a message with a JSON value by the rule of the message type."""
    if len(place) > _MAX_DEPTH:
        raise _invalid(place[:3], f"must not be nested deeper than {_MAX_DEPTH} levels")
    name, tables = message.DESCRIPTOR.name, _tables(message)
    rule = _RULES.get(name)
    if rule is not None:
        rule(message, value, place)
    elif name.endswith("OrReference"):
        _or_reference(message, value, place)
    elif name in tables.maps:
        for key, member in _object(value, place).items():
            _add_pair(message.additional_properties, key, member, place)
    else:
        _fill_object(message, value, place)


def _tables(message: Any) -> Tables:
    return _VERSIONS[message.DESCRIPTOR.file.package]


def _fill_object(message: Any, value: Any, place: Place) -> None:
    fields, extensions = message.DESCRIPTOR.fields_by_name, _tables(message).extensions
    for key, member in _object(value, place).items():
        if key.startswith("x-") and extensions in fields:
            _add_pair(getattr(message, extensions), key, member, place)
            continue
        field = fields.get(_field_name(key))
        if field is None or field.name == extensions:
            raise _invalid((*place, key), f"{message.DESCRIPTOR.name} has no such field")
        _set(message, field, member, (*place, key))


def _set(message: Any, field: Any, value: Any, place: Place) -> None:
    if field.is_repeated:
        if not isinstance(value, list):
            raise _invalid(place, "must be a list")
        values = getattr(message, field.name)
        for position, item in enumerate(value):
            if field.message_type is None:
                values.append(_scalar(field, item, (*place, str(position))))
            else:
                _fill(values.add(), item, (*place, str(position)))
    elif field.message_type is None:
        setattr(message, field.name, _scalar(field, value, place))
    else:
        _fill(_member(message, field.name), value, place)


def _member(message: Any, name: str) -> Any:
    """Return the submessage *name*, marked as present even if it stays empty."""
    member = getattr(message, name)
    member.SetInParent()
    return member


def _add_pair(pairs: Any, key: str, value: Any, place: Place) -> None:
    pair, at = pairs.add(), (*place, key)
    fields = pair.DESCRIPTOR.fields_by_name
    pair.name = _scalar(fields["name"], key, at)
    _set(pair, fields["value"], value, at)


def _scalar(field: Any, value: Any, place: Place) -> Any:
    expected, name = _SCALARS[field.type]
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise _invalid(place, f"must be {name}")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _invalid(place, "must be valid Unicode") from None
    elif field.type == FieldDescriptor.TYPE_INT64 and not -(2**63) <= value < 2**63:
        raise _invalid(place, "must be a 64-bit integer")
    return value


_SCALARS: Final[Mapping[int, tuple[Any, str]]] = {
    FieldDescriptor.TYPE_STRING: (str, "a string"),
    FieldDescriptor.TYPE_BOOL: (bool, "true or false"),
    FieldDescriptor.TYPE_DOUBLE: (int | float, "a number"),
    FieldDescriptor.TYPE_INT64: (int, "an integer"),
}


def _any(message: Any, value: Any, place: Place) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(place, f"is not JSON: {error}") from None
    escaped = _NOT_YAML.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    message.yaml = f"{escaped}\n"


def _type_item(message: Any, value: Any, place: Place) -> None:
    types = value if isinstance(value, list) else [value]
    _set(message, message.DESCRIPTOR.fields_by_name["value"], types, place)


def _items_item(message: Any, value: Any, place: Place) -> None:
    schemas = value if isinstance(value, list) else [value]
    _set(message, message.DESCRIPTOR.fields[0], schemas, place)


def _string_array(message: Any, value: Any, place: Place) -> None:
    _set(message, message.DESCRIPTOR.fields_by_name["value"], value, place)


def _additional_properties(message: Any, value: Any, place: Place) -> None:
    if isinstance(value, bool):
        message.boolean = value
    else:
        _fill(_member(message, message.DESCRIPTOR.fields[0].name), value, place)


def _schema_item(message: Any, value: Any, place: Place) -> None:
    is_file = _object(value, place).get("type") == "file"
    _fill(_member(message, "file_schema" if is_file else "schema"), value, place)


def _parameters_item(message: Any, value: Any, place: Place) -> None:
    is_reference = "$ref" in _object(value, place)
    _fill(_member(message, "json_reference" if is_reference else "parameter"), value, place)


def _parameter(message: Any, value: Any, place: Place) -> None:
    if "body_parameter" not in message.DESCRIPTOR.fields_by_name:  # v3 has one parameter type
        _fill_object(message, value, place)
        return
    location = _object(value, place).get("in")
    if location == "body":
        _fill(_member(message, "body_parameter"), value, place)
        return
    name = _PARAMETER_PLACES.get(location) if isinstance(location, str) else None
    if name is None:
        raise _invalid((*place, "in"), "must be body, formData, header, path or query")
    _fill(_member(_member(message, "non_body_parameter"), name), value, place)


def _response_value(message: Any, value: Any, place: Place) -> None:
    is_reference = "$ref" in _object(value, place)
    _fill(_member(message, "json_reference" if is_reference else "response"), value, place)


def _security_item(message: Any, value: Any, place: Place) -> None:
    definition = _object(value, place)
    names = {"basic": "basic_authentication_security", "apiKey": "api_key_security"}
    kind, flow = definition.get("type"), definition.get("flow")
    name = _FLOWS.get(str(flow)) if kind == "oauth2" else names.get(str(kind))
    if name is None:
        raise _invalid((*place, "type"), "must be basic, apiKey, or oauth2 with a known flow")
    _fill(_member(message, name), value, place)


def _paths(message: Any, value: Any, place: Place) -> None:
    for key, member in _object(value, place).items():
        name = _tables(message).extensions if key.startswith("x-") else "path"
        _add_pair(getattr(message, name), key, member, place)


def _responses(message: Any, value: Any, place: Place) -> None:
    fields = message.DESCRIPTOR.fields_by_name
    codes = "response_code" if "response_code" in fields else "response_or_reference"
    for key, member in _object(value, place).items():
        if key == "default" and key in fields:
            _fill(_member(message, key), member, (*place, key))
            continue
        name = _tables(message).extensions if key.startswith("x-") else codes
        _add_pair(getattr(message, name), key, member, place)


def _or_reference(message: Any, value: Any, place: Place) -> None:
    inline, reference = (field.name for field in message.DESCRIPTOR.fields)
    is_reference = "$ref" in _object(value, place)
    _fill(_member(message, reference if is_reference else inline), value, place)


def _default_type(message: Any, value: Any, place: Place) -> None:
    """Fill DefaultType, which has no field for lists and objects: like gnostic, leave it empty."""
    if isinstance(value, bool):
        message.boolean = value
    elif isinstance(value, int | float):
        message.number = value
    elif isinstance(value, str):
        message.string = value


def _any_or_expression(message: Any, value: Any, place: Place) -> None:
    _fill(_member(message, "any"), value, place)


_RULES: Final[Mapping[str, Callable[[Any, Any, Place], None]]] = {
    "AdditionalPropertiesItem": _additional_properties,
    "Any": _any,
    "AnyOrExpression": _any_or_expression,
    "Callback": _paths,
    "DefaultType": _default_type,
    "ItemsItem": _items_item,
    "Parameter": _parameter,
    "ParametersItem": _parameters_item,
    "Paths": _paths,
    "ResponseValue": _response_value,
    "Responses": _responses,
    "SchemaItem": _schema_item,
    "SecurityDefinitionsItem": _security_item,
    "StringArray": _string_array,
    "TypeItem": _type_item,
}


_VERSIONS: Final = {tables.package: tables for tables in (V2, V3)}


def _field_name(key: str) -> str:
    """Return the protobuf name of a JSON key: `operationId` is `operation_id`, `$ref` is `_ref`."""
    return "_ref" if key == "$ref" else _WORD_START.sub("_", key).lower()


def _object(value: Any, place: Place) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _invalid(place, "must be an object")
    for key in value:
        if not isinstance(key, str):
            raise _invalid(place, f"has key {key!r}: keys must be strings")
    return value


def _invalid(place: Place, rule: str) -> InvalidDocument:
    return InvalidDocument(".".join(("$", *place)), rule)
