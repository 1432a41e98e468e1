from tests.apiserver.registry.conftest import here

__all__ = ["here"]
