"""Logs: text or JSON lines, each with the ID of its request.

The ID is the one that clients receive in the Audit-Id header, so a user's report can be matched
with the log. It is set when a request starts, and every line logged while serving the request
includes it.

Clients choose much of what is logged: paths, names, user agents, parts of error messages. In text,
characters that are not printable are escaped, values that contain a delimiter are quoted as Go's
`%q` does, and the lines of a traceback are indented, so that no client can forge a line or a field.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import orjson

request_id: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""The ID of the request being served, empty outside of one."""

_FIELDS: Final = "fields_of_line"
_RECORD_ATTRIBUTES: Final = frozenset(
    (
        *vars(logging.makeLogRecord({})),
        "message",
        "asctime",
        "taskName",
        "color_message",
        _FIELDS,
    )
)

_EMPTY_RECORD: Final = vars(logging.makeLogRecord({})) | {
    "threadName": None,
    "processName": None,
    "taskName": None,
}
"""The attributes of a record about nothing."""

_UNDELIMITED: Final = re.compile(r"[!#-<>-~]*").fullmatch
"""Match values that need no quotes: ASCII without spaces, quotes and equals signs."""
_INDENT: Final = "    "


def write_line(logger: logging.Logger, level: int, message: str, fields: dict[str, Any]) -> None:
    """Log *message* with *fields*, as with `extra`, at a third of the cost.

    It skips finding the calling line of code, and what a record notes of the thread and the task;
    recording the fields spares the formatter the search for them.
    """
    record = logging.LogRecord.__new__(logging.LogRecord)
    created = time.time()
    record.__dict__ |= {
        **_EMPTY_RECORD,
        "name": logger.name,
        "levelno": level,
        "levelname": logging.getLevelName(level),
        "msg": message,
        "created": created,
        "msecs": int(created % 1 * 1000) + 0.0,
        "process": os.getpid(),
        **fields,
        _FIELDS: fields,
    }
    logger.handle(record)


class TextFormatter(logging.Formatter):
    """Formats a record as `time LEVEL logger: message key=value request=id`."""

    def format(self, record: logging.LogRecord) -> str:
        message = escape_unprintable(record.getMessage())
        extra = _extra(record)
        pairs = _plain_pairs(extra) or "".join(_pairs(extra))
        line = f"{_time(record)} {record.levelname} {record.name}: {message}{pairs}"
        trace = _trace(self, record)
        return f"{line}\n{_indented(trace)}" if trace else line


class JSONFormatter(logging.Formatter):
    """Formats a record as one line with a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
            **_extra(record),
        }
        if trace := _trace(self, record):
            entry["trace"] = trace
        try:
            return orjson.dumps(entry, default=str, option=orjson.OPT_NON_STR_KEYS).decode("utf-8")
        except TypeError:  # a lone surrogate, which UTF-8 cannot encode
            return json.dumps(entry, default=str)


def log_config(*, form: str, level: str) -> dict[str, Any]:
    """Return the configuration for `logging.config.dictConfig`, which logs to standard error."""
    formatter = JSONFormatter if form == "json" else TextFormatter
    # gunicorn logs its process management one level higher than is appropriate here.
    gunicorn_level = {"debug": "info", "info": "warning"}.get(level, level)
    gunicorn = {"level": gunicorn_level.upper(), "handlers": [], "propagate": True}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"apiserver": {"()": formatter}},
        "handlers": {
            "apiserver": {
                "class": "logging.StreamHandler",
                "formatter": "apiserver",
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"level": level.upper(), "handlers": ["apiserver"]},
        "loggers": {
            "gunicorn.error": gunicorn,
            "gunicorn.access": gunicorn,
            # The server's own controllers and their client.
            "apimachinery": gunicorn,
            # Both loggers are too verbose at DEBUG.
            "asyncio": {"level": "INFO"},
            "grpc": {"level": "INFO"},
        },
    }


def quoted(text: str) -> str:
    """Return *text*, in quotes if its end could be mistaken otherwise."""
    if _UNDELIMITED(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escape_unprintable(escaped)}"'


def escape_unprintable(text: str) -> str:
    """Return *text* with line separators, control and format characters as backslash escapes."""
    if text.isprintable():
        return text
    return "".join(
        [char if char.isprintable() else char.encode("unicode_escape").decode() for char in text]
    )


def _indented(trace: str) -> str:
    return "\n".join([_INDENT + escape_unprintable(line) for line in trace.split("\n")])


def _time(record: logging.LogRecord) -> str:
    seconds, fraction = divmod(record.created, 1)
    return f"{_time_of_second(int(seconds))}.{int(fraction * 1000):03}Z"


@lru_cache(maxsize=2)
def _time_of_second(seconds: int) -> str:
    """Return the time in ISO 8601; a busy server logs hundreds of lines in each second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    values = vars(record)
    extra = values.get(_FIELDS)
    if extra is None:
        extra = {key: value for key, value in values.items() if key not in _RECORD_ATTRIBUTES}
    if (current := request_id.get()) and "request" not in extra:
        extra["request"] = current
    return extra


def _plain_pairs(extra: Mapping[str, Any]) -> str:
    """Return the fields of *extra* if none needs quotes, which one look at all of them shows."""
    texts = [value if value.__class__ is str else str(value) for value in extra.values()]
    if not _UNDELIMITED("".join(texts)):
        return ""
    return "".join([f" {key}={text}" for key, text in zip(extra, texts, strict=True)])


def _pairs(extra: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of *extra* for people: without nesting and without empty nested values."""
    for key, value in extra.items():
        if value.__class__ is str and _UNDELIMITED(value):
            yield f" {key}={value}"
        elif isinstance(value, dict):
            yield from _pairs({k: v for k, v in value.items() if v not in ("", None)})
        else:
            yield f" {key}={quoted(str(value))}"


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info:
        parts.append(formatter.formatException(record.exc_info))
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts)
