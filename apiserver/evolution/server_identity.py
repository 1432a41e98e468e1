"""Server identity: which processes belong to one server.

Apart from what is known about running servers, because a master gives itself an identity without
importing any of it.
"""

import os
from typing import Final
from uuid import uuid4

IDENTITY: Final = "_APISERVER_IDENTITY"
"""The environment variable by which workers inherit the identity of their server. It has not the
prefix of settings: it is none."""


def identify_server() -> None:
    """Give this process, and all that it starts from now on, the identity of a new server."""
    os.environ[IDENTITY] = uuid4().hex
