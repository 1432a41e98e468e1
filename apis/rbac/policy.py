"""Policy: all roles and bindings of a server, arranged so that who may do what is looked up.

A question starts from the user and their groups, finds the roles that are bound to them, everywhere
or in the namespace in question, and asks each role once, however many bindings give it. Whoever
keeps a Policy tells it of every role and binding that comes, changes or goes, in any order: a
binding to a role that is not there gives nothing until the role comes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

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


class User(Protocol):
    """Somebody who wants to do something."""

    @property
    def name(self) -> str: ...
    @property
    def groups(self) -> Sequence[str]: ...


class Request(Protocol):
    """What somebody wants to do: to a resource, or to a path."""

    @property
    def verb(self) -> str: ...
    @property
    def is_resource(self) -> bool: ...
    @property
    def path(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def resource(self) -> str: ...
    @property
    def subresource(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def name(self) -> str: ...


class RoleKey(NamedTuple):
    """Which role: a cluster role has no namespace."""

    namespace: str
    name: str


Reasons = dict[str, str]
"""Why a role is somebody's: the name of each binding that gives it, and its description."""
Roles = dict[RoleKey, Reasons]

_NOBODY: Final[Mapping[str, Roles]] = {}


class _Grants:
    """Which roles users have, or groups: in a namespace, or everywhere, which has no name."""

    def __init__(self) -> None:
        self._places: dict[str, dict[str, Roles]] = {}

    def at(self, namespace: str) -> Mapping[str, Roles]:
        return self._places.get(namespace, _NOBODY)

    def add(self, namespace: str, who: str, role: RoleKey, *, binding: str, reason: str) -> None:
        roles = self._places.setdefault(namespace, {}).setdefault(who, {})
        roles.setdefault(role, {}).setdefault(binding, reason)

    def remove(self, namespace: str, who: str, role: RoleKey, *, binding: str) -> None:
        """Take a grant back; it may have been taken back before."""
        place = self._places.get(namespace, {})
        roles = place.get(who, {})
        roles.get(role, {}).pop(binding, None)
        if not roles.get(role):
            roles.pop(role, None)
        if not roles:
            place.pop(who, None)
        if not place:
            self._places.pop(namespace, None)


class _Binding(NamedTuple):
    role: RoleKey
    subjects: tuple[tuple[_Grants, str], ...]


class Policy:
    """Who may do what, by the roles and bindings it has been told of."""

    def __init__(self) -> None:
        self._roles: dict[RoleKey, CompiledRules] = {}
        self._bindings: dict[tuple[str, str], _Binding] = {}
        self._users = _Grants()
        self._groups = _Grants()

    # Being told

    def put_role(self, role: Role | ClusterRole) -> None:
        """Take a role as it is now."""
        meta = role.metadata
        self._roles[RoleKey(meta.namespace, meta.name)] = CompiledRules(role.rules)

    def forget_role(self, namespace: str, name: str) -> None:
        """A role is gone; a cluster role has no namespace."""
        self._roles.pop(RoleKey(namespace, name), None)

    def put_binding(self, binding: RoleBinding | ClusterRoleBinding) -> None:
        """Take a binding as it is now."""
        namespace, name = binding.metadata.namespace, binding.metadata.name
        self.forget_binding(namespace, name)
        role = role_key(binding.role_ref, namespace)
        subjects = []
        for subject in binding.subjects:
            found = self._find(subject, namespace)
            if found is not None:
                grants, who = found
                reason = _reason(binding, subject)
                grants.add(namespace, who, role, binding=name, reason=reason)
                subjects.append(found)
        self._bindings[namespace, name] = _Binding(role, tuple(subjects))

    def forget_binding(self, namespace: str, name: str) -> None:
        """A binding is gone; a cluster role binding has no namespace."""
        known = self._bindings.pop((namespace, name), None)
        if known is not None:
            for grants, who in known.subjects:
                grants.remove(namespace, who, known.role, binding=name)

    # Being asked

    def allowed_by(self, user: User, request: Request) -> str | None:
        """Which binding lets *user* do it, in words; None if none does."""
        if not request.is_resource:
            return self._path_allowed_by(user, request)
        known = self._roles
        keys = resource_keys(request.resource, request.subresource)
        verb, group, name = request.verb, request.group, request.name
        for roles in self._granted(user, request.namespace):
            for key, reasons in roles.items():
                role = known.get(key)
                if role is not None and role.allows_resource(keys, verb, group, name):
                    return next(iter(reasons.values()))
        return None

    def rules_of(self, user: User, namespace: str) -> list[PolicyRule]:
        """Every rule that holds for *user* in a namespace, or everywhere."""
        keys = self._bound(user, namespace)
        return [rule for key in keys if key in self._roles for rule in self._roles[key].rules]

    def missing_roles(self, user: User, namespace: str) -> list[RoleKey]:
        """Roles that are bound to *user* and do not exist."""
        return [key for key in self._bound(user, namespace) if key not in self._roles]

    def problems(self, user: User, namespace: str) -> str:
        """What is wrong with the bindings of *user*: they name roles that do not exist."""
        return joined([_not_found(role) for role in self.missing_roles(user, namespace)])

    def rules_in(self, role: RoleKey) -> Sequence[PolicyRule] | None:
        """The rules of a role, None if there is no such role."""
        found = self._roles.get(role)
        return found.rules if found is not None else None

    def _path_allowed_by(self, user: User, request: Request) -> str | None:
        for roles in self._granted(user, ""):
            for key, reasons in roles.items():
                role = self._roles.get(key)
                if role is not None and role.allows_path(request.path, request.verb):
                    return next(iter(reasons.values()))
        return None

    def _bound(self, user: User, namespace: str) -> Iterable[RoleKey]:
        return dict.fromkeys(key for roles in self._granted(user, namespace) for key in roles)

    def _granted(self, user: User, namespace: str) -> list[Roles]:
        found = []
        for scope in ("", namespace) if namespace else ("",):
            users, groups = self._users.at(scope), self._groups.at(scope)
            if user.name in users:
                found.append(users[user.name])
            found += [groups[group] for group in user.groups if group in groups]
        return found

    def _find(self, subject: Subject, namespace: str) -> tuple[_Grants, str] | None:
        """Under which name a subject of a binding asks, and among whom."""
        match subject.kind:
            case types.USER:
                return self._users, subject.name
            case types.GROUP_KIND:
                return self._groups, subject.name
            case types.SERVICE_ACCOUNT if home := subject.namespace or namespace:
                return self._users, f"system:serviceaccount:{home}:{subject.name}"
        return None


def role_key(reference: RoleRef, namespace: str) -> RoleKey:
    """The role that a binding in *namespace* refers to."""
    return RoleKey(namespace if reference.kind == types.ROLE else "", reference.name)


def joined(problems: Sequence[str]) -> str:
    """Several problems as one, as Kubernetes writes them."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]" if problems else ""


def _not_found(role: RoleKey) -> str:
    kind = types.ROLE if role.namespace else types.CLUSTER_ROLE
    return f"{kind.lower()}.{GROUP} {quote(role.name)} not found"


def _reason(binding: RoleBinding | ClusterRoleBinding, subject: Subject) -> str:
    meta, role = binding.metadata, binding.role_ref
    name = f"{meta.name}/{meta.namespace}" if meta.namespace else meta.name
    who = subject.name
    if subject.kind == types.SERVICE_ACCOUNT:
        who = f"{subject.name}/{subject.namespace or meta.namespace}"
    return (
        f"{binding.__kind__} {quote(name)} of {role.kind} {quote(role.name)} "
        f"to {subject.kind} {quote(who)}"
    )
