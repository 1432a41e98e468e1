"""Gnostic message tables of OpenAPI v2 (`openapi.v2.Document`), with gnostic's field numbers.

The field numbers of a message are consecutive, so a message is written as its fields in order:
`name:type`, where the type is string if omitted, `*` marks a repeated field, and `-` stands for an
unused number. The descriptors are built at run time and `gnostic` fills the messages.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass


@dataclass(frozen=True)
class Tables:
    """All messages of one version of OpenAPI."""

    package: str
    extensions: str
    """The name of the field that holds `x-` extensions, in every message."""
    messages: Mapping[str, str]
    one_of: Mapping[str, str]
    """Messages that hold exactly one of their fields."""
    maps: Mapping[str, str]
    """Map messages and their value types; they hold ordered pairs, in `Named...` messages."""
    pair_types: tuple[str, ...]
    """Value types that other messages hold in such pairs."""


_X: Final = " vendor_extension:*NamedAny"
_ITEMS: Final = (
    "type format items:PrimitivesItems collection_format default:Any maximum:double"
    " exclusive_maximum:bool minimum:double exclusive_minimum:bool max_length:int64"
    " min_length:int64 pattern max_items:int64 min_items:int64 unique_items:bool enum:*Any"
    " multiple_of:double"
)
_FLOW: Final = "type flow scopes:Oauth2Scopes"

_MESSAGES: Final = {
    "Any": "- yaml",
    "ApiKeySecurity": "type name in description" + _X,
    "BasicAuthenticationSecurity": "type description" + _X,
    "BodyParameter": "description name in required:bool schema:Schema" + _X,
    "Contact": "name url email" + _X,
    "Document": "swagger info:Info host base_path schemes:*string consumes:*string produces:*string"
    " paths:Paths definitions:Definitions parameters:ParameterDefinitions"
    " responses:ResponseDefinitions security:*SecurityRequirement"
    " security_definitions:SecurityDefinitions tags:*Tag external_docs:ExternalDocs" + _X,
    "ExternalDocs": "description url" + _X,
    "FileSchema": "format title description default:Any required:*string type read_only:bool"
    " external_docs:ExternalDocs example:Any" + _X,
    "FormDataParameterSubSchema": "required:bool in description name allow_empty_value:bool "
    + _ITEMS
    + _X,
    "Header": _ITEMS + " description" + _X,
    "HeaderParameterSubSchema": "required:bool in description name " + _ITEMS + _X,
    "Info": "title version description terms_of_service contact:Contact license:License" + _X,
    "ItemsItem": "schema:*Schema",
    "JsonReference": "_ref description",
    "License": "name url" + _X,
    "Oauth2AccessCodeSecurity": _FLOW + " authorization_url token_url description" + _X,
    "Oauth2ApplicationSecurity": _FLOW + " token_url description" + _X,
    "Oauth2ImplicitSecurity": _FLOW + " authorization_url description" + _X,
    "Oauth2PasswordSecurity": _FLOW + " token_url description" + _X,
    "Operation": "tags:*string summary description external_docs:ExternalDocs operation_id"
    " produces:*string consumes:*string parameters:*ParametersItem responses:Responses"
    " schemes:*string deprecated:bool security:*SecurityRequirement" + _X,
    "PathItem": "_ref get:Operation put:Operation post:Operation delete:Operation"
    " options:Operation head:Operation patch:Operation parameters:*ParametersItem" + _X,
    "PathParameterSubSchema": "required:bool in description name " + _ITEMS + _X,
    "Paths": "vendor_extension:*NamedAny path:*NamedPathItem",
    "PrimitivesItems": _ITEMS + _X,
    "QueryParameterSubSchema": "required:bool in description name allow_empty_value:bool "
    + _ITEMS
    + _X,
    "Response": "description schema:SchemaItem headers:Headers examples:Examples" + _X,
    "Responses": "response_code:*NamedResponseValue" + _X,
    "Schema": "_ref format title description default:Any multiple_of:double maximum:double"
    " exclusive_maximum:bool minimum:double exclusive_minimum:bool max_length:int64"
    " min_length:int64 pattern max_items:int64 min_items:int64 unique_items:bool"
    " max_properties:int64 min_properties:int64 required:*string enum:*Any"
    " additional_properties:AdditionalPropertiesItem type:TypeItem items:ItemsItem all_of:*Schema"
    " properties:Properties discriminator read_only:bool xml:Xml external_docs:ExternalDocs"
    " example:Any" + _X,
    "StringArray": "value:*string",
    "Tag": "name description external_docs:ExternalDocs" + _X,
    "TypeItem": "value:*string",
    "Xml": "name namespace prefix attribute:bool wrapped:bool" + _X,
}

_ONE_OF: Final = {
    "AdditionalPropertiesItem": "schema:Schema boolean:bool",
    "NonBodyParameter": "header_parameter_sub_schema:HeaderParameterSubSchema"
    " form_data_parameter_sub_schema:FormDataParameterSubSchema"
    " query_parameter_sub_schema:QueryParameterSubSchema"
    " path_parameter_sub_schema:PathParameterSubSchema",
    "Parameter": "body_parameter:BodyParameter non_body_parameter:NonBodyParameter",
    "ParametersItem": "parameter:Parameter json_reference:JsonReference",
    "ResponseValue": "response:Response json_reference:JsonReference",
    "SchemaItem": "schema:Schema file_schema:FileSchema",
    "SecurityDefinitionsItem": "basic_authentication_security:BasicAuthenticationSecurity"
    " api_key_security:ApiKeySecurity oauth2_implicit_security:Oauth2ImplicitSecurity"
    " oauth2_password_security:Oauth2PasswordSecurity"
    " oauth2_application_security:Oauth2ApplicationSecurity"
    " oauth2_access_code_security:Oauth2AccessCodeSecurity",
}

_MAPS: Final = {
    "Definitions": "Schema",
    "Examples": "Any",
    "Headers": "Header",
    "Oauth2Scopes": "string",
    "ParameterDefinitions": "Parameter",
    "Properties": "Schema",
    "ResponseDefinitions": "Response",
    "SecurityDefinitions": "SecurityDefinitionsItem",
    "SecurityRequirement": "StringArray",
}

V2: Final = Tables(
    package="openapi.v2",
    extensions="vendor_extension",
    messages=_MESSAGES,
    one_of=_ONE_OF,
    maps=_MAPS,
    pair_types=("PathItem", "ResponseValue", "Any"),
)

_SCALARS: Final = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int64": FieldDescriptorProto.TYPE_INT64,
}


def pair_message(value_type: str) -> str:
    """Return the name of the message for a pair of a name and a value: `NamedSchema`."""
    return f"Named{value_type[:1].upper()}{value_type[1:]}"


def message_class(tables: Tables = V2) -> type[Message]:
    """Build the message class of the document and its dependencies in a new descriptor pool."""
    pool = DescriptorPool()
    pool.Add(_file(tables))
    return GetMessageClass(pool.FindMessageTypeByName(f"{tables.package}.Document"))


def _file(tables: Tables) -> FileDescriptorProto:
    package = tables.package
    name = f"{package.replace('.', '')}.proto"
    file = FileDescriptorProto(name=name, package=package, syntax="proto3")
    for name, fields in tables.messages.items():
        _describe(file.message_type.add(name=name), fields, package)
    for name, fields in tables.one_of.items():
        message = file.message_type.add(name=name)
        message.oneof_decl.add(name="oneof")
        _describe(message, fields, package)
        for field in message.field:
            field.oneof_index = 0
    for name, value_type in tables.maps.items():
        pairs = f"additional_properties:*{pair_message(value_type)}"
        _describe(file.message_type.add(name=name), pairs, package)
    for value_type in {*tables.maps.values(), *tables.pair_types}:
        pair = file.message_type.add(name=pair_message(value_type))
        _describe(pair, f"name value:{value_type}", package)
    return file


def _describe(message: DescriptorProto, fields: str, package: str) -> None:
    for number, definition in enumerate(fields.split(), start=1):
        if definition == "-":
            continue
        name, _, kind = definition.partition(":")
        field = message.field.add(name=name, number=number)
        repeated = kind.startswith("*")
        kind = kind.removeprefix("*") or "string"
        field.label = (
            FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
        )
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
        else:
            field.type = FieldDescriptorProto.TYPE_MESSAGE
            field.type_name = f".{package}.{kind}"
