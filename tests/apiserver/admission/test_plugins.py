"""Named plugins: which a server runs, for which resources, and in which order."""

from functools import partial
from typing import cast

import pytest

from apimachinery.schema import GroupResource
from apiserver.admission.chain import Attributes
from apiserver.admission.plugins import (
    Admission,
    AdmissionPlugin,
    PluginFunctions,
    UnknownPlugin,
    select_plugins,
)
from apiserver.server_parts import ServerParts
from tests.apiserver.admission.test_chain import attributes

PODS = GroupResource("", "pods")
NO_PARTS = cast(ServerParts, object())


def plugin(
    name: str, calls: list[str], *, on_by_default: bool = True, resources: tuple[str, ...] = ()
) -> AdmissionPlugin:
    def call(phase: str, _: Attributes) -> None:
        calls.append(f"{phase} {name}")

    functions = PluginFunctions(partial(call, "mutate"), partial(call, "validate"))
    about = frozenset(GroupResource("", resource) for resource in resources)
    return AdmissionPlugin(name, lambda _: functions, about, on_by_default)


async def test_functions_of_a_group_run_before_webhooks_and_after_other_plugins() -> None:
    calls: list[str] = []
    names = ("ResourceQuota", "MutatingAdmissionWebhook", "LimitRanger")
    plugins = select_plugins([plugin(name, calls) for name in names], enabled=(), disabled=())
    chain = Admission.build(plugins, NO_PARTS).chain(
        PODS,
        mutating=[lambda _: calls.append("mutate the group's")],
        validating=[lambda _: calls.append("validate the group's")],
    )

    await chain.mutate(attributes())
    await chain.validate(attributes())

    order = ("LimitRanger", "the group's", "MutatingAdmissionWebhook", "ResourceQuota")
    assert calls == [f"{phase} {name}" for phase in ("mutate", "validate") for name in order]


async def test_a_plugin_runs_for_its_resources_only() -> None:
    calls: list[str] = []
    admission = Admission.build([plugin("LimitRanger", calls, resources=("pods",))], NO_PARTS)

    await admission.chain(GroupResource("", "secrets")).mutate(attributes())
    assert calls == []

    await admission.chain(PODS).mutate(attributes())
    assert calls == ["mutate LimitRanger"]


def test_plugins_are_switched_by_name() -> None:
    known = [
        plugin("LimitRanger", []),
        plugin("Priority", []),
        plugin("EventRateLimit", [], on_by_default=False),
    ]

    selected = select_plugins(known, enabled=["EventRateLimit"], disabled=["LimitRanger"])

    assert [each.name for each in selected] == ["Priority", "EventRateLimit"]


def test_an_unknown_name_is_refused_and_the_known_are_named() -> None:
    with pytest.raises(UnknownPlugin) as refused:
        select_plugins([plugin("Priority", [])], enabled=["LimitRange"], disabled=[])

    assert str(refused.value) == (
        "unknown admission plugins: LimitRange (the groups of this server have: Priority)"
    )
