from collections.abc import Sequence

import pytest

from apimachinery.testing.plugin import clock, env
from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.gadgets.install import GADGETS
from apiserver.group import Group

__all__ = ["api_groups", "clock", "env"]


@pytest.fixture(scope="session")
def api_groups() -> Sequence[Group]:
    return (GADGETS, ADMISSIONREGISTRATION)
