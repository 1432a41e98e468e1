"""Policy: all roles and bindings of a server, arranged so that who may do what is looked up.

A question starts from the user and their groups, finds the roles that are bound to them, everywhere
or in the namespace in question, and asks each role once, however many bindings give it. Whoever
keeps a Policy tells it of every role and binding that comes, changes or goes, in any order: a
binding to a role that is not there gives nothing until the role comes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

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


class _Place(NamedTuple):
    """Whose roles: *who* is a user or a group; *namespace* is where, empty for everywhere."""

    namespace: str
    who: str


Reasons = dict[str, str]
"""Why a role is somebody's: the name of each binding that gives it, and its description."""
Grants = dict[_Place, dict[RoleKey, Reasons]]

_NOTHING: dict[RoleKey, Reasons] = {}


class _Binding(NamedTuple):
    role: RoleKey
    places: tuple[tuple[Grants, _Place], ...]


class Policy:
    """Who may do what, by the roles and bindings it has been told of."""

    def __init__(self) -> None:
        self._roles: dict[RoleKey, CompiledRules] = {}
        self._bindings: dict[tuple[str, str], _Binding] = {}
        self._users: Grants = {}
        self._groups: Grants = {}

    # Being told

    def put_role(self, role: Role | ClusterRole) -> None:
        """Take a role as it is now."""
        self._roles[RoleKey(role.metadata.namespace, role.metadata.name)] = CompiledRules(
            role.rules
        )

    def forget_role(self, namespace: str, name: str) -> None:
        """A role is gone; a cluster role has no namespace."""
        self._roles.pop(RoleKey(namespace, name), None)

    def put_binding(self, binding: RoleBinding | ClusterRoleBinding) -> None:
        """Take a binding as it is now."""
        namespace, name = binding.metadata.namespace, binding.metadata.name
        self.forget_binding(namespace, name)
        role = role_key(binding.role_ref, namespace)
        places = []
        for subject in binding.subjects:
            found = self._place(subject, namespace)
            if found is not None:
                grants, place = found
                reasons = grants.setdefault(place, {}).setdefault(role, {})
                reasons.setdefault(name, _reason(binding, subject))
                places.append(found)
        self._bindings[namespace, name] = _Binding(role, tuple(places))

    def forget_binding(self, namespace: str, name: str) -> None:
        """A binding is gone; a cluster role binding has no namespace."""
        known = self._bindings.pop((namespace, name), None)
        for grants, place in known.places if known else ():
            roles = grants.get(place, _NOTHING)
            reasons = roles.get(known.role, {}) if known else {}
            reasons.pop(name, None)
            if known and not reasons:
                roles.pop(known.role, None)
            if not roles:
                grants.pop(place, None)

    # Being asked

    def allowed_by(self, user: User, request: Request) -> str | None:
        """Which binding lets *user* do it, in words; None if none does."""
        roles = self._roles
        if request.is_resource:
            keys = resource_keys(request.resource, request.subresource)
            verb, group, name = request.verb, request.group, request.name
            for key, reasons in self._granted(user, request.namespace):
                role = roles.get(key)
                if role and role.allows_resource(keys, verb=verb, group=group, name=name):
                    return next(iter(reasons.values()))
            return None
        for key, reasons in self._granted(user, ""):
            role = roles.get(key)
            if role and role.allows_path(request.path, verb=request.verb):
                return next(iter(reasons.values()))
        return None

    def rules_of(self, user: User, namespace: str) -> list[PolicyRule]:
        """Every rule that holds for *user* in a namespace, or everywhere."""
        keys = dict.fromkeys(key for key, _ in self._granted(user, namespace))
        return [rule for key in keys if key in self._roles for rule in self._roles[key].rules]

    def missing_roles(self, user: User, namespace: str) -> list[RoleKey]:
        """Roles that are bound to *user* and do not exist."""
        keys = dict.fromkeys(key for key, _ in self._granted(user, namespace))
        return [key for key in keys if key not in self._roles]

    def problems(self, user: User, namespace: str) -> str:
        """What is wrong with the bindings of *user*: they name roles that do not exist."""
        return joined([_not_found(role) for role in self.missing_roles(user, namespace)])

    def rules_in(self, role: RoleKey) -> Sequence[PolicyRule] | None:
        """The rules of a role, None if there is no such role."""
        found = self._roles.get(role)
        return found.rules if found is not None else None

    def _granted(self, user: User, namespace: str) -> Iterator[tuple[RoleKey, Reasons]]:
        users, groups = self._users, self._groups
        for scope in ("", namespace) if namespace else ("",):
            yield from users.get(_Place(scope, user.name), _NOTHING).items()
            for group in user.groups:
                yield from groups.get(_Place(scope, group), _NOTHING).items()

    def _place(self, subject: Subject, namespace: str) -> tuple[Grants, _Place] | None:
        match subject.kind:
            case types.USER:
                return self._users, _Place(namespace, subject.name)
            case types.GROUP_KIND:
                return self._groups, _Place(namespace, subject.name)
            case types.SERVICE_ACCOUNT if home := subject.namespace or namespace:
                who = f"system:serviceaccount:{home}:{subject.name}"
                return self._users, _Place(namespace, who)
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
