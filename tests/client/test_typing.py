"""Typing: the types that mypy infers in a user's program, and the errors it reports."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
from client import AsyncClient, Client, ResourceClient
from client.controller import Context, Manager, Result
from client.informer import DeletedObject, InformerFactory
from apis.core.v1 import ConfigMap
from apis.gadgets import v1
from apis.gadgets.register import add_to_scheme

async def main(client: AsyncClient) -> None:
    gadgets = client.of(v1.Gadget, namespace="default")
    reveal_type(await gadgets.get("a"))                              # apis.gadgets.v1.types.Gadget
    reveal_type(await gadgets.create({"metadata": {"name": "a"}}))   # apis.gadgets.v1.types.Gadget
    reveal_type((await gadgets.get("a")).spec.replicas)              # int
    async for g in gadgets.list(labels={"app": "a"}):
        reveal_type(g)                                               # apis.gadgets.v1.types.Gadget
    async for event in gadgets.watch(since="5"):
        reveal_type(event.object)                                    # apis.gadgets.v1.types.Gadget
    async with gadgets.edit("a") as g:
        reveal_type(g)                                               # apis.gadgets.v1.types.Gadget
    reveal_type(await gadgets.scale.get("a"))                        # apimachinery.scale.Scale
    reveal_type(await gadgets.status.get("a"))                       # apis.gadgets.v1.types.Gadget
    partial = await gadgets.metadata.get("a")
    reveal_type(partial)  # apimachinery.meta.types.PartialObjectMetadata
    untyped = await client.resource("gadgets").get("a")
    reveal_type(untyped)  # apimachinery.meta.unstructured.Unstructured
    reveal_type(await gadgets.subresource("x", v1.Gadget).get("a"))  # apis.gadgets.v1.types.Gadget
    await gadgets.wait("a", lambda g: g.status.ready_replicas == 3, timeout=60)
    await depends_on_the_interface(gadgets)

async def depends_on_the_interface(gadgets: ResourceClient[v1.Gadget]) -> v1.Gadget:
    return await gadgets.dry_run().as_manager("me").get("a")

def blocking(client: Client) -> None:
    gadgets = client.of(v1.Gadget)
    reveal_type(gadgets.get("a"))                                    # apis.gadgets.v1.types.Gadget
    for g in gadgets.list():
        reveal_type(g.spec.model)                                    # str
    with gadgets.edit("a") as g:
        reveal_type(g)                                               # apis.gadgets.v1.types.Gadget
    for event in gadgets.watch():
        reveal_type(event.object)                                    # apis.gadgets.v1.types.Gadget

def found() -> None:
    with Client.from_env(add_to_scheme) as c:
        reveal_type(c)                                               # client.sync.Client
        reveal_type(c.of(v1.Gadget).get("a"))                        # apis.gadgets.v1.types.Gadget

async def caches(client: AsyncClient) -> None:
    async with InformerFactory(client) as informers:
        gadgets = informers.of(v1.Gadget)
        gadgets.add_index("model", lambda g: [g.spec.model])
        cached = gadgets.lister.namespace("default").get("a")
        reveal_type(cached)                                          # apis.gadgets.v1.types.Gadget

        @gadgets.on_delete
        def gone(d: DeletedObject[v1.Gadget]) -> None:
            assert d.object is not None
            reveal_type(d.object)                                    # apis.gadgets.v1.types.Gadget

        @gadgets.on_update  # error: arg-type
        def changed(old: v1.Gadget, new: int) -> None: ...

def controllers(mgr: Manager) -> None:
    @mgr.controller(v1.Gadget, owns=[ConfigMap], workers=4)
    async def reconcile(ctx: Context[v1.Gadget]) -> Result | None:
        gadget = await ctx.get()
        assert gadget is not None
        reveal_type(gadget)                                          # apis.gadgets.v1.types.Gadget
        made = await ctx.apply(ctx.owned(ConfigMap, name="a"))
        reveal_type(made.data)                                       # dict[str, str]
        return None

    @mgr.controller(v1.Gadget)  # error: arg-type
    async def other(ctx: Context[ConfigMap]) -> None: ...

async def mistakes(client: AsyncClient) -> None:
    Client.from_env(5)  # error: arg-type
    gadgets = client.of(v1.Gadget)
    await gadgets.get(5)  # error: arg-type
    await gadgets.create({"metadata": {}}, dryrun=True)  # error: call-arg
    await gadgets.delete("a", propagation="Sideways")  # error: arg-type
    (await gadgets.get("a")).spec.colour  # error: attr-defined
    await gadgets.create(5)  # error: arg-type
"""


def test_mypy_infers_the_class_of_every_answer_and_finds_mistakes(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    lines = PROGRAM.splitlines()
    revealed = {
        number: line.split("# ")[-1].strip()
        for number, line in enumerate(lines, 1)
        if "reveal_type" in line
    }
    wrong = {
        number: line.split("# error: ")[-1].strip()
        for number, line in enumerate(lines, 1)
        if "# error: " in line
    }

    run = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            *("--config-file", "", "--cache-dir", str(ROOT / ".mypy_cache" / "users")),
            *("--python-version", "3.11", "--follow-imports=silent", str(path)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    notes = re.findall(r'program\.py:(\d+): note: Revealed type is "([^"]+)"', run.stdout)
    errors = re.findall(r"program\.py:(\d+): error: .* \[([a-z-]+)\]", run.stdout)
    # Some versions of mypy write `int` and others `builtins.int`.
    plain = {int(line): kind.replace("builtins.", "") for line, kind in notes}
    assert plain == revealed, run.stdout
    assert {int(line): code for line, code in errors} == wrong, run.stdout
