"""An informer of the scripted server, and a handler that writes down what it is told."""

from client.cache.deltas import Transform
from client.informer import DeletedObject, Handler, InformerOptions, SharedInformer
from tests.client.informer.clock import FakeClock
from tests.client.informer.server import Gadget, Server


class Notes(Handler[Gadget]):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_add(self, obj: Gadget, is_in_initial_list: bool) -> None:
        self.told.append(f"{'+ ' if is_in_initial_list else ''}add {short(obj)}")

    def on_update(self, old: Gadget, new: Gadget) -> None:
        self.told.append(f"update {short(old)} to {short(new)}")

    def on_delete(self, deleted: DeletedObject[Gadget]) -> None:
        shown = short(deleted.object) if deleted.object is not None else "?"
        unknown = " unseen" if deleted.final_state_unknown else ""
        self.told.append(f"delete {deleted.key} {shown}{unknown}")


def short(obj: Gadget) -> str:
    return f"{obj.metadata.name}@{obj.metadata.resource_version}"


def informer_of(
    server: Server,
    clock: FakeClock,
    *,
    transform: Transform[Gadget] | None = None,
    **options: object,
) -> SharedInformer[Gadget]:
    made = InformerOptions(**options)  # type: ignore[arg-type]
    return SharedInformer(server, expected=Gadget, transform=transform, options=made, clock=clock)
