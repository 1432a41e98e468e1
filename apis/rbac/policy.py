"""Policy: an index of all roles and bindings of a server, by user and group.

A decision finds the roles that are bound to the user and their groups, cluster-wide or in the
namespace of the request, and evaluates each role once, however many bindings grant it. The owner of
a Policy reports every role and binding that is created, changed or deleted, in any order: a binding
to a missing role grants nothing until the role is created.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from apimachinery.fieldpath import quote
from apis.rbac import GROUP
from apis.rbac.rules import CompiledRules, resource_keys
from apis.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
    types,
)
from apiserver import RequestInfo, User


class RoleKey(NamedTuple):
    """The namespace and name of a role; a ClusterRole has no namespace."""

    namespace: str
    name: str


Reasons = dict[str, str]
"""The bindings that grant a role to a subject: name -> description."""
Roles = dict[RoleKey, Reasons]

_NO_GRANTS: Final[Mapping[str, Roles]] = {}


class _Grants:
    """The roles of users, or of groups, by namespace; "" is the cluster scope."""

    def __init__(self) -> None:
        self._by_namespace: dict[str, dict[str, Roles]] = {}

    def at(self, namespace: str) -> Mapping[str, Roles]:
        return self._by_namespace.get(namespace, _NO_GRANTS)

    def add(
        self, namespace: str, subject: str, role: RoleKey, *, binding: str, reason: str
    ) -> None:
        roles = self._by_namespace.setdefault(namespace, {}).setdefault(subject, {})
        roles.setdefault(role, {}).setdefault(binding, reason)

    def remove(self, namespace: str, subject: str, role: RoleKey, *, binding: str) -> None:
        """Revoke a grant, if it is not revoked already."""
        subjects = self._by_namespace.get(namespace, {})
        roles = subjects.get(subject, {})
        roles.get(role, {}).pop(binding, None)
        if not roles.get(role):
            roles.pop(role, None)
        if not roles:
            subjects.pop(subject, None)
        if not subjects:
            self._by_namespace.pop(namespace, None)


class _Binding(NamedTuple):
    role: RoleKey
    subjects: tuple[tuple[_Grants, str], ...]


class Policy:
    """Evaluates the roles and bindings that were put into it."""

    def __init__(self) -> None:
        self._roles: dict[RoleKey, CompiledRules] = {}
        self._bindings: dict[tuple[str, str], _Binding] = {}
        self._users = _Grants()
        self._groups = _Grants()

    # Updates

    def put_role(self, role: Role | ClusterRole) -> None:
        """Add or replace a role."""
        self.prepare_role(role)()

    def prepare_role(self, role: Role | ClusterRole) -> Callable[[], None]:
        """Return the function that adds or replaces a role; any thread may prepare it."""
        key = RoleKey(role.metadata.namespace, role.metadata.name)
        compiled = CompiledRules(role.rules)

        def put() -> None:
            self._roles[key] = compiled

        return put

    def forget_role(self, namespace: str, name: str) -> None:
        """Remove a role; a ClusterRole has no namespace."""
        self._roles.pop(RoleKey(namespace, name), None)

    def put_binding(self, binding: RoleBinding | ClusterRoleBinding) -> None:
        """Add or replace a binding."""
        self.prepare_binding(binding)()

    def prepare_binding(self, binding: RoleBinding | ClusterRoleBinding) -> Callable[[], None]:
        """Return the function that adds or replaces a binding; any thread may prepare it."""
        namespace, name = binding.metadata.namespace, binding.metadata.name
        role = role_key(binding.role_ref, namespace)
        granted = [
            (entry, _reason(binding, subject))
            for subject in binding.subjects
            if (entry := self._grants_of(subject, namespace)) is not None
        ]
        prepared = _Binding(role, tuple(entry for entry, _ in granted))

        def put() -> None:
            self.forget_binding(namespace, name)
            for (grants, subject), reason in granted:
                grants.add(namespace, subject, role, binding=name, reason=reason)
            self._bindings[namespace, name] = prepared

        return put

    def forget_binding(self, namespace: str, name: str) -> None:
        """Remove a binding; a ClusterRoleBinding has no namespace."""
        binding = self._bindings.pop((namespace, name), None)
        if binding is not None:
            for grants, subject in binding.subjects:
                grants.remove(namespace, subject, binding.role, binding=name)

    # Decisions

    def allowed_by(self, user: User, request: RequestInfo) -> str | None:
        """Return the description of a binding that allows *request*, None if none does."""
        if not request.is_resource:
            return self._path_allowed_by(user, request)
        rules_of = self._roles
        keys = resource_keys(request.resource, request.subresource)
        verb, group, name = request.verb, request.group, request.name
        for roles in self._granted_roles(user, request.namespace):
            for key, reasons in roles.items():
                role = rules_of.get(key)
                if role is not None and role.allows_resource(keys, verb, group, name):
                    return next(iter(reasons.values()))
        return None

    def rules_of(self, user: User, namespace: str) -> list[PolicyRule]:
        """Return every rule that *user* has in a namespace or cluster-wide."""
        keys = self._bound_roles(user, namespace)
        return [rule for key in keys if key in self._roles for rule in self._roles[key].rules]

    def missing_roles(self, user: User, namespace: str) -> list[RoleKey]:
        """Return the roles that are bound to *user* and do not exist."""
        return [key for key in self._bound_roles(user, namespace) if key not in self._roles]

    def problems(self, user: User, namespace: str) -> str:
        """Return an error text for bindings of *user* to missing roles; empty if there are none."""
        return join_problems([_not_found(role) for role in self.missing_roles(user, namespace)])

    def rules_in(self, role: RoleKey) -> Sequence[PolicyRule] | None:
        """Return the rules of a role, None if there is no such role."""
        compiled = self._roles.get(role)
        return compiled.rules if compiled is not None else None

    def _path_allowed_by(self, user: User, request: RequestInfo) -> str | None:
        for roles in self._granted_roles(user, ""):
            for key, reasons in roles.items():
                role = self._roles.get(key)
                if role is not None and role.allows_path(request.path, request.verb):
                    return next(iter(reasons.values()))
        return None

    def _bound_roles(self, user: User, namespace: str) -> Iterable[RoleKey]:
        return dict.fromkeys(key for roles in self._granted_roles(user, namespace) for key in roles)

    def _granted_roles(self, user: User, namespace: str) -> list[Roles]:
        granted = []
        for scope in ("", namespace) if namespace else ("",):
            users, groups = self._users.at(scope), self._groups.at(scope)
            if user.name in users:
                granted.append(users[user.name])
            granted += [groups[group] for group in user.groups if group in groups]
        return granted

    def _grants_of(self, subject: Subject, namespace: str) -> tuple[_Grants, str] | None:
        """Return where the grants of a subject are kept, and its name there."""
        match subject.kind:
            case types.USER:
                return self._users, subject.name
            case types.GROUP_KIND:
                return self._groups, subject.name
            case types.SERVICE_ACCOUNT if home := subject.namespace or namespace:
                return self._users, f"system:serviceaccount:{home}:{subject.name}"
        return None


def role_key(reference: RoleRef, namespace: str) -> RoleKey:
    """Return the key of the role that a binding in *namespace* refers to."""
    return RoleKey(namespace if reference.kind == types.ROLE else "", reference.name)


def join_problems(problems: Sequence[str]) -> str:
    """Join error texts in the format of Kubernetes' aggregated errors."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]" if problems else ""


def _not_found(role: RoleKey) -> str:
    kind = types.ROLE if role.namespace else types.CLUSTER_ROLE
    return f"{kind.lower()}.{GROUP} {quote(role.name)} not found"


def _reason(binding: RoleBinding | ClusterRoleBinding, subject: Subject) -> str:
    meta, role = binding.metadata, binding.role_ref
    name = f"{meta.name}/{meta.namespace}" if meta.namespace else meta.name
    subject_name = subject.name
    if subject.kind == types.SERVICE_ACCOUNT:
        subject_name = f"{subject.name}/{subject.namespace or meta.namespace}"
    return (
        f"{binding.__kind__} {quote(name)} of {role.kind} {quote(role.name)} "
        f"to {subject.kind} {quote(subject_name)}"
    )
