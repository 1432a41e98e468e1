"""Rules and subjects as short texts, for roles that are many and alike.

A rule is `VERBS RESOURCES [of GROUPS] [named NAMES]` with commas between several, such as
`read pods,pods/status`; the group is the core group, also called `core`, unless it is named. The
verbs `read`, `write` and `manage` stand for several. `get /metrics` is about paths. A subject is
`group NAME`, `user NAME` or `account NAMESPACE/NAME`.
"""

from collections.abc import Mapping
from typing import Final

from apis.rbac import GROUP
from apis.rbac.v1 import PolicyRule, Subject
from apis.rbac.v1.types import GROUP_KIND, SERVICE_ACCOUNT, USER

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
READ_WRITE: Final = tuple(sorted((*READ, *WRITE)))
_VERBS: Final[Mapping[str, tuple[str, ...]]] = {"read": READ, "write": WRITE, "manage": READ_WRITE}


def parse_rule(text: str) -> PolicyRule:
    """Return the rule of a text."""
    verbs, objects, *options = text.split(" ")
    allowed = list(_VERBS.get(verbs, verbs.split(",")))
    if objects.startswith("/"):
        return PolicyRule(verbs=allowed, non_resource_urls=objects.split(","))
    given = dict(zip(options[::2], options[1::2], strict=True))
    groups = given.get("of", "core").split(",")
    return PolicyRule(
        verbs=allowed,
        api_groups=["" if group == "core" else group for group in groups],
        resources=objects.split(","),
        resource_names=given["named"].split(",") if "named" in given else [],
    )


def parse_subject(text: str) -> Subject:
    """Return the subject of a text."""
    kind, name = text.split(" ")
    if kind == "account":
        namespace, _, name = name.partition("/")
        return Subject(kind=SERVICE_ACCOUNT, namespace=namespace, name=name)
    return Subject(kind=GROUP_KIND if kind == "group" else USER, api_group=GROUP, name=name)
