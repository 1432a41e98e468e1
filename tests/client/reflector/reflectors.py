"""A reflector of the scripted server, and a store that remembers what it was asked to do."""

from client.informer import Reflector, Store
from tests.client.informer.clock import FakeClock
from tests.client.informer.server import Gadget, Server


class Recorder(Store[Gadget]):
    """A store that remembers what it was asked to do."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def replace(self, objects: object, resource_version: str) -> None:
        super().replace(objects, resource_version)  # type: ignore[arg-type]
        self.calls.append(f"replace {len(self)} at {resource_version}")

    def bookmark(self, resource_version: str) -> None:
        super().bookmark(resource_version)
        self.calls.append(f"bookmark {resource_version}")

    def resync(self) -> None:
        self.calls.append("resync")


class Setup:
    """A reflector of a scripted server, without luck."""

    def __init__(
        self,
        server: Server,
        clock: FakeClock,
        *,
        use_watch_list: bool = False,
        page_size: int = 0,
        resync: float = 0,
        should_resync: bool = True,
        internal_error_retry: float = 0,
        store: Recorder | None = None,
    ) -> None:
        self.store = Recorder() if store is None else store
        self.errors: list[Exception] = []
        self.reflector = Reflector(
            server,
            self.store,
            expected=Gadget,
            use_watch_list=use_watch_list,
            page_size=page_size,
            resync=resync,
            should_resync=lambda: should_resync,
            internal_error_retry=internal_error_retry,
            on_error=self.errors.append,
            clock=clock,
            chance=lambda: 0.0,
        )

    def names(self) -> list[str]:
        return sorted(obj.metadata.name for obj in self.store.objects())
