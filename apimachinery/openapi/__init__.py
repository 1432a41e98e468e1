"""OpenAPI: publish the kinds and resources of a server as OpenAPI v2 and v3 documents.

documents                       the documents, from descriptions of resources
operations, request_parameters  paths, operations and parameters of resources
definitions, definition_names   the schemas of kinds, and their names
properties, scalar_schemas      the schemas of fields
custom_schemas                  the schemas of custom kinds
dialect                         the differences between OpenAPI v2 and v3
gnostic, gnostic_v2, gnostic_v3 the documents as protobuf
"""
