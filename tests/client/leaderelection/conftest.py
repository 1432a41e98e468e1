from tests.client.controller.conftest import api_groups, clock, env

__all__ = ["api_groups", "clock", "env"]
