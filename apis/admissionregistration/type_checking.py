"""Type checking: the expressions of a policy, compiled with the types of the objects it is about.

Policies are accepted without it, since the resources that they match may change. What it finds is
shown in the status of a policy, and alters nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from apimachinery.cel.cel_values import escape
from apimachinery.cel.program import InvalidExpression
from apimachinery.cel.typed_expression import ANY, TypedEnvironment
from apimachinery.schema import GroupVersionKind
from apis.admissionregistration.v1 import ValidatingAdmissionPolicy
from apis.admissionregistration.v1.policy_parameters import Variable
from apis.admissionregistration.v1.validating_policy import ExpressionWarning
from apis.admissionregistration.validation.expressions import field_type, new_environment

Schema = Mapping[str, Any]
"""A schema of OpenAPI v3."""

_DYNAMIC: Final = "dyn"
_PREFIX: Final = "kubernetes.Object"
_REFERENCE: Final = "#/components/schemas/"
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DEEPEST: Final = 20
_SCALARS: Final = {"boolean": "bool", "integer": "int", "number": "double", "string": "string"}
_FORMATS: Final = {
    "byte": "bytes",
    "date": "google.protobuf.Timestamp",
    "date-time": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
}


class ObjectTypes:
    """The types of objects in CEL's notation, from the schemas of a document of OpenAPI."""

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, str]] = {}

    def add(self, schema: Schema, schemas: Mapping[str, Schema]) -> str:
        """Return the type of a schema, whose references are to *schemas*."""
        return self._type(schema, schemas, ())

    def _type(self, schema: Schema, schemas: Mapping[str, Schema], above: tuple[str, ...]) -> str:
        reference = _reference(schema)
        if reference:
            if reference in above or len(above) > _DEEPEST or reference not in schemas:
                return _DYNAMIC
            return self._type(schemas[reference], schemas, (*above, reference))
        if schema.get("format") == "int-or-string" or schema.get("x-kubernetes-int-or-string"):
            return _DYNAMIC
        match schema.get("type"):
            case "array" if schema.get("items"):
                return f"list({self._type(schema['items'], schemas, above)})"
            case "object":
                return self._object(schema, schemas, above)
            case "string":
                return _FORMATS.get(schema.get("format", ""), "string")
            case str() as kind:
                return _SCALARS.get(kind, _DYNAMIC)
        return _DYNAMIC

    def _object(self, schema: Schema, schemas: Mapping[str, Schema], above: tuple[str, ...]) -> str:
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping):
            return f"map(string, {self._type(values, schemas, above)})"
        properties = schema.get("properties") or {}
        if not properties:
            return _DYNAMIC
        name = f"{_PREFIX}{len(self.messages)}"
        fields = self.messages[name] = {}
        for own, part in properties.items():
            if _IDENTIFIER.fullmatch(escape(own)):
                fields[escape(own)] = self._type(part, schemas, above)
        return name


def _reference(schema: Schema) -> str:
    """Return the name of the schema that a schema refers to, empty if it is one itself."""
    parts: Any = schema.get("allOf") or ()
    target = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else "") or ""
    return str(target).removeprefix(_REFERENCE)


class TypeChecker:
    """Checks the expressions of one policy."""

    def __init__(self, policy: ValidatingAdmissionPolicy) -> None:
        self._policy = policy
        self._has_params = policy.spec.param_kind is not None

    def check(
        self,
        objects: Sequence[tuple[GroupVersionKind, Schema, Mapping[str, Schema]]],
        params: tuple[Schema, Mapping[str, Schema]] | None,
    ) -> list[ExpressionWarning]:
        """Return what is wrong with the expressions, for objects of each kind.

        Each kind comes with its schema and the schemas that it refers to.
        """
        environments = [
            (kind, self._environment(schema, schemas, params)) for kind, schema, schemas in objects
        ]
        found: list[ExpressionWarning] = []
        for position, validation in enumerate(self._policy.spec.validations):
            here = f"spec.validations[{position}]"
            for field, text in (
                ("expression", validation.expression),
                ("messageExpression", validation.message_expression),
            ):
                problems = _problems(text, environments) if text else ""
                if problems:
                    warning = ExpressionWarning(field_ref=f"{here}.{field}", warning=problems)
                    found.append(warning)
        return found

    def _environment(
        self,
        schema: Schema,
        schemas: Mapping[str, Schema],
        params: tuple[Schema, Mapping[str, Schema]] | None,
    ) -> TypedEnvironment:
        types = ObjectTypes()
        shown = types.add(schema, schemas)
        names = {"object": shown, "oldObject": shown}
        if params is not None:
            names["params"] = types.add(*params)
        variables: list[tuple[str, str]] = []

        def environment() -> TypedEnvironment:
            return new_environment(self._has_params, True, variables, types.messages, names)

        current = environment()
        for variable in self._policy.spec.variables:
            variables.append((variable.name, _variable_type(variable, current)))
            current = environment()
        return current


def _variable_type(variable: Variable, environment: TypedEnvironment) -> str:
    try:
        return field_type(environment.compile(variable.expression, (ANY,)).result)
    except InvalidExpression:
        return _DYNAMIC


def _problems(text: str, environments: Sequence[tuple[GroupVersionKind, TypedEnvironment]]) -> str:
    problems: list[str] = []
    for kind, environment in environments:
        try:
            environment.compile(text, (ANY,))
        except InvalidExpression as error:
            issues = str(error).removeprefix("compilation failed: ")
            version = f"{kind.group}/{kind.version}"
            problems.append(f"{version}, Kind={kind.kind}: {issues}\n")
    return "\n".join(problems)
