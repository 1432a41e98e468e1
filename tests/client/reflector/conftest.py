from tests.client.informer.conftest import background, clock, server

__all__ = ["background", "clock", "server"]
