"""The admission plugin MutatingAdmissionPolicy: lets stored policies change objects.

All policies that concern a write are found first, by the object as it was. Then they change it one
after the other. If one has changed it, all mutating admission runs once more; policies that ask for
it, and that ran before a change, run again then.
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from apimachinery.errors import APIError, InternalError
from apimachinery.fieldpath import quote
from apimachinery.meta.status import StatusCause
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.decoding import DecodeError
from apimachinery.model.semantic_equality import equal
from apimachinery.scheme import NotRegistered
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.policies.activation import error_type
from apis.admissionregistration.policies.match_conditions import ConditionUnknown
from apis.admissionregistration.policies.mutating_policy import (
    CompiledMutatingPolicy,
    CompiledMutation,
    compile_mutating_policy,
)
from apis.admissionregistration.policies.parameters import ParameterError, Parameters
from apis.admissionregistration.policies.policy_source import Binding, Hook, PolicySource
from apis.admissionregistration.policies.policy_variables import NamespaceDocuments, PolicyVariables
from apis.admissionregistration.policies.write_evaluation import WriteEvaluation
from apiserver import Attributes, ServerParts
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions
from apiserver.served_versions import ServedVersion

NAME: Final = "MutatingAdmissionPolicy"

MutatingHook = Hook[CompiledMutatingPolicy]
_Key = tuple[str, str, str, str]
"""Names of the policy and the binding, namespace and name of the parameter."""


def mutating_plugin() -> AdmissionPlugin:
    """Return the plugin; its policies are those of the server that builds it."""
    return AdmissionPlugin(NAME, lambda parts: PluginFunctions(mutate=MutatingPolicies(parts)))


class MutatingPolicies:
    """Changes objects as the policies in effect say."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._parameters = Parameters(parts)
        self._namespaces = NamespaceDocuments(parts)
        self._source = PolicySource(
            parts,
            policies="mutatingadmissionpolicies",
            bindings="mutatingadmissionpolicybindings",
            compile_policy=compile_mutating_policy,
        )

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        if attributes.operation == "DELETE" or not self._source.may_concern(attributes):
            return None
        return self._review(attributes)

    async def _review(self, attributes: Attributes) -> None:
        write = ReviewedWrite(attributes, self._parts)
        hooks = await self._source.concerning(write)
        if hooks:
            await _Mutation(write, self._parts, self._parameters, self._namespaces).run(hooks)


@dataclass(slots=True)
class _Invoked:
    """What the first run leaves for the second."""

    called: set[_Key] = field(default_factory=set)
    """Policies that ask to run again, and after which nothing has changed yet."""
    called_again: set[_Key] = field(default_factory=set)
    """Policies that run in the second run."""
    output: Object | None = None
    """The object after the last run of this plugin."""

    def object_changed(self) -> None:
        self.called_again |= self.called
        self.called.clear()


@dataclass(frozen=True, slots=True)
class _Invocation:
    """A policy that runs with a binding and a parameter."""

    hook: MutatingHook
    binding: Binding
    shown: ServedVersion
    parameter: Any

    @property
    def key(self) -> _Key:
        metadata = {} if self.parameter is None else self.parameter["metadata"]
        named = metadata.get("namespace", ""), metadata.get("name", "")
        return self.hook.name, self.binding.name, *named


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why a write is denied, unless the policy ignores failures."""

    hook: MutatingHook
    binding: Binding | None
    message: str
    reason: str = ""

    @property
    def text(self) -> str:
        if self.binding is None:
            return f"policy {quote(self.hook.name)} denied request: {self.message}"
        by = f"policy '{self.hook.name}' with binding '{self.binding.name}'"
        return f"{by} denied request: {self.message}"


class _Mutation:
    """One run of the policies for one write."""

    def __init__(
        self,
        write: ReviewedWrite,
        parts: ServerParts,
        parameters: Parameters,
        namespaces: NamespaceDocuments,
    ) -> None:
        self._write = write
        self._parts = parts
        self._parameters = parameters
        self._evaluation = WriteEvaluation(write, parts)
        self._variables = PolicyVariables(write, self._evaluation, namespaces)
        self._problems: list[_Problem] = []

    async def run(self, hooks: Sequence[MutatingHook]) -> None:
        """Run the policies that concern the write; raise if one of them denies it."""
        invocations = [found for hook in hooks for found in await self._invocations(hook)]
        if invocations:
            await self._invoke_all(invocations)
        denying = [each for each in self._problems if not each.hook.ignores_failures]
        if denying:
            raise self._denial(denying)

    async def _invocations(self, hook: MutatingHook) -> Sequence[_Invocation]:
        try:
            shown = await hook.constraints.match(self._write, self._parts.versions)
        except APIError as error:
            self._misconfigured(hook, None, str(error))
            return ()
        if shown is None:
            return ()
        if problem := self._parameters.check_kind(hook.param_kind):
            self._misconfigured(hook, None, problem)
            return ()
        return [
            _Invocation(hook, binding, shown, parameter)
            for binding in hook.bindings
            for parameter in await self._bound(hook, binding)
        ]

    async def _bound(self, hook: MutatingHook, binding: Binding) -> Sequence[Any]:
        """Return the parameters of a binding, none if it does not match the write."""
        write, constraints = self._write, binding.constraints
        try:
            if constraints and await constraints.match(write, self._parts.versions) is None:
                return ()
            return await self._parameters.find(hook.param_kind, binding.reference, write)
        except (APIError, ParameterError) as error:
            self._misconfigured(hook, binding, str(error))
            return ()

    def _misconfigured(self, hook: MutatingHook, binding: Binding | None, problem: str) -> None:
        part = "binding" if binding else "policy"
        message = f"failed to configure {part}: {problem}"
        self._problems.append(_Problem(hook, binding, message))

    async def _invoke_all(self, invocations: Sequence[_Invocation]) -> None:
        attributes = self._write.attributes
        reinvocation = attributes.reinvocation
        invoked: _Invoked = reinvocation.notes.setdefault(NAME, _Invoked())
        run = attributes.context.workload.run
        if reinvocation.running and not await run(equal, invoked.output, attributes.object):
            invoked.object_changed()
        for invocation in invocations:
            if not await self._concerns(invocation):
                continue
            if reinvocation.running and invocation.key not in invoked.called_again:
                continue
            if await self._invoke(invocation):
                invoked.object_changed()
                reinvocation.wanted = True
            if invocation.hook.compiled.is_reinvoked:
                invoked.called.add(invocation.key)
        if reinvocation.wanted and not reinvocation.running:
            output = attributes.object
            invoked.output = await run(output.deep_copy) if output is not None else None

    async def _concerns(self, invocation: _Invocation) -> bool:
        values = await self._values(invocation)
        try:
            return await self._evaluation.run(partial(invocation.hook.compiled.concerns, values))
        except ConditionUnknown as error:
            if not invocation.hook.ignores_failures:
                self._failed(invocation, str(error))
            return False

    async def _invoke(self, invocation: _Invocation) -> bool:
        """Carry out the mutations of a policy; return whether the object has changed."""
        changed = False
        for mutation in invocation.hook.compiled.mutations:
            if self._write.attributes.object is not None:
                changed |= await self._mutate(invocation, mutation)
        return changed

    async def _mutate(self, invocation: _Invocation, mutation: CompiledMutation) -> bool:
        write, shown = self._write, invocation.shown
        values = await self._values(invocation)
        shape = self._parts.versions.shape(shown.resource, write.target.subresource)
        mutated = await self._evaluation.run(
            partial(invocation.hook.compiled.mutate, mutation, values, shape)
        )
        self._parts.admission_metrics.observe_mutation(
            invocation.hook.name,
            invocation.binding.name,
            error=error_type(mutated.problem),
            seconds=mutated.seconds,
        )
        if mutated.problem:
            self._failed(invocation, mutated.problem)
            return False
        if mutated.document == values["object"]:
            return False
        document = dump_content(mutated.document)
        write.attributes.context.workload.add(document)
        try:
            new = await write.decode(document, shown, strict=True)
        except NotRegistered as error:
            raise InternalError.of(error.problem) from None
        except DecodeError as error:
            raise InternalError.of(str(error)) from None
        write.replace(new)
        return True

    async def _values(self, invocation: _Invocation) -> dict[str, Any]:
        values = await self._variables.values(invocation.shown)
        return {**values, "params": invocation.parameter}

    def _failed(self, invocation: _Invocation, problem: str) -> None:
        hook, binding = invocation.hook, invocation.binding
        self._problems.append(_Problem(hook, binding, problem, "Invalid"))

    def _denial(self, problems: Sequence[_Problem]) -> APIError:
        causes = [StatusCause(message=problem.text) for problem in problems]
        denied = "admission request denied by policy"
        forbidden = self._write.attributes.forbidden(denied, causes=causes)
        return APIError(
            problems[0].text,
            details=forbidden.details,
            reason=problems[0].reason or forbidden.reason,
            code=forbidden.code,
        )
