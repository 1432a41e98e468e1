"""`/version`: the Kubernetes version that the server is compatible with, and its own release."""

import platform
from functools import cache
from importlib import metadata
from typing import Final

import orjson
from falcon.asgi import Request, Response

from apimachinery.serialization.media_types import JSON

MAJOR: Final = "1"
MINOR: Final = "37"
"""Clients derive the capabilities of a server from these."""
MIN_COMPATIBILITY_MINOR: Final = "36"
"""The oldest version whose clients and stored objects the emulated version is compatible with."""


async def on_version(req: Request, resp: Response) -> None:
    resp.content_type = JSON
    resp.data = version_document()


@cache
def version_document() -> bytes:
    """Build the response, which does not change while the process runs."""
    document = {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": MIN_COMPATIBILITY_MINOR,
        "gitVersion": f"v{MAJOR}.{MINOR}.0+apimachinery-{_release()}",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": platform.python_implementation().lower(),
        "platform": f"{platform.system().lower()}/{_machine()}",
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def _release() -> str:
    try:
        return metadata.version("apimachinery")
    except metadata.PackageNotFoundError:
        return "0.0.0"


def _machine() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
