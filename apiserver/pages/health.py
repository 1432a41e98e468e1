"""`/healthz`, `/livez` and `/readyz`: whether the server lives, and whether to send it requests.

Each is a list of named checks; a check is an async function that raises if something is wrong.
What is wrong goes into the log and not to whoever asks, since everybody may ask.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from falcon.asgi import Request, Response

from apiserver.http.response import exchange_of, write_text

log = logging.getLogger(__name__)

PATIENCE: Final = 2.0
"""Seconds in which a check must answer."""


class Unhealthy(Exception):
    """A check that fails on purpose; the message goes into the log."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be well."""

    name: str
    test: Callable[[], Awaitable[None]]

    async def failure(self) -> str:
        """What is wrong; empty if nothing is."""
        try:
            async with asyncio.timeout(PATIENCE):
                await self.test()
        except TimeoutError:
            return f"no answer within {PATIENCE} seconds"
        except Exception as error:
            return str(error) or type(error).__name__
        return ""


async def ping() -> None:
    """A server that answers at all is well."""


class Health:
    """One of the three paths, with the checks below it."""

    def __init__(self, name: str, checks: Sequence[Check]) -> None:
        self.name = name
        self._checks = {check.name: check for check in checks}

    @property
    def paths(self) -> list[str]:
        """Every path that it answers."""
        return [f"/{self.name}", *(f"/{self.name}/{name}" for name in self._checks)]

    async def on_get(self, req: Request, resp: Response) -> None:
        """All checks, in words if `?verbose` asks for them."""
        query = exchange_of(req).query
        excluded = dict.fromkeys(query.get("exclude", ()))
        lines, failed = [], False
        for check in self._checks.values():
            if check.name in excluded:
                del excluded[check.name]
                lines.append(f"[+]{check.name} excluded: ok\n")
            elif why := await check.failure():
                failed = True
                log.warning("%s check %s failed: %s", self.name, check.name, why)
                lines.append(f"[-]{check.name} failed: reason withheld\n")
            else:
                lines.append(f"[+]{check.name} ok\n")
        if excluded:
            names = ",".join(f'"{name}"' for name in sorted(excluded))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        told = "".join(lines)
        if failed:
            write_text(resp, f"{told}{self.name} check failed\n", code=500)
        elif "verbose" in query:
            write_text(resp, f"{told}{self.name} check passed\n")
        else:
            write_text(resp, "ok")

    async def on_get_check(self, req: Request, resp: Response) -> None:
        """The one check that the path names."""
        name = req.path.rstrip("/").rpartition("/")[2]
        why = await self._checks[name].failure()
        if why:
            log.warning("%s check %s failed: %s", self.name, name, why)
            write_text(resp, "internal server error: reason withheld\n", code=500)
        else:
            write_text(resp, "ok")
