"""Gnostic message tables of OpenAPI v3 (`openapi.v3.Document`), with gnostic's field numbers.

The notation is that of `gnostic_v2`. In v3 most values can be replaced by a reference: a message
`XOrReference` holds either the value or the reference.
"""

from typing import Final

from apimachinery.openapi.gnostic_v2 import Tables

_X: Final = " specification_extension:*NamedAny"
_PARAMETER_FIELDS: Final = (
    "required:bool deprecated:bool allow_empty_value:bool style explode:bool allow_reserved:bool"
    " schema:SchemaOrReference example:Any examples:ExamplesOrReferences content:MediaTypes"
)
_REFERABLE: Final = {
    "Callback": "callback",
    "Example": "example",
    "Header": "header",
    "Link": "link",
    "Parameter": "parameter",
    "RequestBody": "request_body",
    "Response": "response",
    "Schema": "schema",
    "SecurityScheme": "security_scheme",
}

V3: Final = Tables(
    package="openapi.v3",
    extensions="specification_extension",
    messages={
        "Any": "- yaml",
        "Callback": "path:*NamedPathItem" + _X,
        "Components": "schemas:SchemasOrReferences responses:ResponsesOrReferences"
        " parameters:ParametersOrReferences examples:ExamplesOrReferences"
        " request_bodies:RequestBodiesOrReferences headers:HeadersOrReferences"
        " security_schemes:SecuritySchemesOrReferences links:LinksOrReferences"
        " callbacks:CallbacksOrReferences" + _X,
        "Contact": "name url email" + _X,
        "Discriminator": "property_name mapping:Strings" + _X,
        "Document": "openapi info:Info servers:*Server paths:Paths components:Components"
        " security:*SecurityRequirement tags:*Tag external_docs:ExternalDocs" + _X,
        "Encoding": "content_type headers:HeadersOrReferences style explode:bool"
        " allow_reserved:bool" + _X,
        "Example": "summary description value:Any external_value" + _X,
        "ExternalDocs": "description url" + _X,
        "Header": "description " + _PARAMETER_FIELDS + _X,
        "Info": "title description terms_of_service contact:Contact license:License version"
        + _X
        + " summary",
        "ItemsItem": "schema_or_reference:*SchemaOrReference",
        "License": "name url" + _X,
        "Link": "operation_ref operation_id parameters:AnyOrExpression"
        " request_body:AnyOrExpression description server:Server" + _X,
        "MediaType": "schema:SchemaOrReference example:Any examples:ExamplesOrReferences"
        " encoding:Encodings" + _X,
        "OauthFlow": "authorization_url token_url refresh_url scopes:Strings" + _X,
        "OauthFlows": "implicit:OauthFlow password:OauthFlow client_credentials:OauthFlow"
        " authorization_code:OauthFlow" + _X,
        "Operation": "tags:*string summary description external_docs:ExternalDocs operation_id"
        " parameters:*ParameterOrReference request_body:RequestBodyOrReference"
        " responses:Responses callbacks:CallbacksOrReferences deprecated:bool"
        " security:*SecurityRequirement servers:*Server" + _X,
        "Parameter": "name in description " + _PARAMETER_FIELDS + _X,
        "PathItem": "_ref summary description get:Operation put:Operation post:Operation"
        " delete:Operation options:Operation head:Operation patch:Operation trace:Operation"
        " servers:*Server parameters:*ParameterOrReference" + _X,
        "Paths": "path:*NamedPathItem" + _X,
        "Reference": "_ref summary description",
        "RequestBody": "description content:MediaTypes required:bool" + _X,
        "Response": "description headers:HeadersOrReferences content:MediaTypes"
        " links:LinksOrReferences" + _X,
        "Responses": "default:ResponseOrReference"
        " response_or_reference:*NamedResponseOrReference" + _X,
        "Schema": "nullable:bool discriminator:Discriminator read_only:bool write_only:bool xml:Xml"
        " external_docs:ExternalDocs example:Any deprecated:bool title multiple_of:double"
        " maximum:double exclusive_maximum:bool minimum:double exclusive_minimum:bool"
        " max_length:int64 min_length:int64 pattern max_items:int64 min_items:int64"
        " unique_items:bool max_properties:int64 min_properties:int64 required:*string enum:*Any"
        " type all_of:*SchemaOrReference one_of:*SchemaOrReference any_of:*SchemaOrReference"
        " not:Schema items:ItemsItem properties:Properties"
        " additional_properties:AdditionalPropertiesItem default:DefaultType description format"
        + _X,
        "SecurityScheme": "type description name in scheme bearer_format flows:OauthFlows"
        " open_id_connect_url" + _X,
        "Server": "url description variables:ServerVariables" + _X,
        "ServerVariable": "enum:*string default description" + _X,
        "StringArray": "value:*string",
        "Tag": "name description external_docs:ExternalDocs" + _X,
        "Xml": "name namespace prefix attribute:bool wrapped:bool" + _X,
    },
    one_of={
        "AdditionalPropertiesItem": "schema_or_reference:SchemaOrReference boolean:bool",
        "AnyOrExpression": "any:Any expression:Expression",
        "DefaultType": "number:double boolean:bool string",
        **{
            f"{name}OrReference": f"{field}:{name} reference:Reference"
            for name, field in _REFERABLE.items()
        },
    },
    maps={
        "CallbacksOrReferences": "CallbackOrReference",
        "Encodings": "Encoding",
        "ExamplesOrReferences": "ExampleOrReference",
        "Expression": "Any",
        "HeadersOrReferences": "HeaderOrReference",
        "LinksOrReferences": "LinkOrReference",
        "MediaTypes": "MediaType",
        "ParametersOrReferences": "ParameterOrReference",
        "Properties": "SchemaOrReference",
        "RequestBodiesOrReferences": "RequestBodyOrReference",
        "ResponsesOrReferences": "ResponseOrReference",
        "SchemasOrReferences": "SchemaOrReference",
        "SecurityRequirement": "StringArray",
        "SecuritySchemesOrReferences": "SecuritySchemeOrReference",
        "ServerVariables": "ServerVariable",
        "Strings": "string",
    },
    pair_types=("PathItem", "Any"),
)
