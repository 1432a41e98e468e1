"""Health checks: `/healthz`, `/livez` and `/readyz`.

Each path runs a list of named checks; a check is an async function that raises if it fails. The
reason is logged and not sent to the client, since these paths are open to everyone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from falcon.asgi import Request, Response

from apiserver.http.response import exchange_of, write_text

log = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 2.0
"""Seconds in which a check must complete."""


class Unhealthy(Exception):
    """Raised by a check that fails; the message is logged."""


@dataclass(frozen=True, slots=True)
class Check:
    """A named health check."""

    name: str
    test: Callable[[], Awaitable[None]]

    async def failure(self) -> str:
        """Run the check; return the reason of its failure, empty if it passes."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await self.test()
        except TimeoutError:
            return f"no answer within {TIMEOUT_SECONDS} seconds"
        except Exception as error:
            return str(error) or type(error).__name__
        return ""


async def ping() -> None:
    """Pass if the server responds at all."""


class Health:
    """One of the three paths, with its checks."""

    def __init__(self, name: str, checks: Sequence[Check]) -> None:
        self.name = name
        self._checks = {check.name: check for check in checks}

    @property
    def paths(self) -> list[str]:
        """The path itself and one path for each check."""
        return [f"/{self.name}", *(f"/{self.name}/{name}" for name in self._checks)]

    async def on_get(self, req: Request, resp: Response) -> None:
        """Run all checks; `?verbose` lists the results and `?exclude` skips checks."""
        query = exchange_of(req).query
        excluded = dict.fromkeys(query.get("exclude", ()))
        lines, failed = [], False
        for check in self._checks.values():
            if check.name in excluded:
                del excluded[check.name]
                lines.append(f"[+]{check.name} excluded: ok\n")
            elif reason := await check.failure():
                failed = True
                log.warning("%s check %s failed: %s", self.name, check.name, reason)
                lines.append(f"[-]{check.name} failed: reason withheld\n")
            else:
                lines.append(f"[+]{check.name} ok\n")
        if excluded:
            names = ",".join(f'"{name}"' for name in sorted(excluded))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
        report = "".join(lines)
        if failed:
            write_text(resp, f"{report}{self.name} check failed\n", code=500)
        elif "verbose" in query:
            write_text(resp, f"{report}{self.name} check passed\n")
        else:
            write_text(resp, "ok")

    async def on_get_check(self, req: Request, resp: Response) -> None:
        """Run the check that the path names."""
        name = req.path.rstrip("/").rpartition("/")[2]
        reason = await self._checks[name].failure()
        if reason:
            log.warning("%s check %s failed: %s", self.name, name, reason)
            write_text(resp, "internal server error: reason withheld\n", code=500)
        else:
            write_text(resp, "ok")
