"""Logs: lines for people or JSON for machines, each with the id of the request it belongs to.

The id is the one a client sees in the Audit-Id header, so a complaint leads to its lines. Whoever
begins a request sets it; everything the request logs, however deep, carries it.
"""

import logging
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final

import orjson

request_id: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""The id of the request that is being served, empty outside of one."""

_FIELDS: Final = "fields_of_line"
_STANDARD: Final = frozenset(
    (*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message", _FIELDS)
)


def write_line(logger: logging.Logger, level: int, message: str, fields: dict[str, Any]) -> None:
    """Log *message* with *fields*, as with `extra`, at half the price.

    Nobody asks which line of code has written it, and what is a field need not be found out.
    """
    record = logging.LogRecord(logger.name, level, "", 0, message, (), None)
    record.__dict__.update(fields)
    record.__dict__[_FIELDS] = fields
    logger.handle(record)


class TextFormatter(logging.Formatter):
    """`time LEVEL logger: message key=value request=id`."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = "".join(f" {key}={value}" for key, value in _flat(_extra(record)))
        line = f"{_time(record)} {record.levelname} {record.name}: {record.getMessage()}{pairs}"
        trace = _trace(self, record)
        return f"{line}\n{trace}" if trace else line


class JSONFormatter(logging.Formatter):
    """One JSON object on each line."""

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
        return orjson.dumps(entry, default=str, option=orjson.OPT_NON_STR_KEYS).decode("utf-8")


def log_config(*, form: str, level: str) -> dict[str, Any]:
    """The configuration for `logging.config.dictConfig`; everything goes to standard error."""
    formatter = JSONFormatter if form == "json" else TextFormatter
    # gunicorn tells the story of its processes one level louder than it matters here.
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
            # Both say more on the level debug than a log can bear.
            "asyncio": {"level": "INFO"},
            "grpc": {"level": "INFO"},
        },
    }


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    values = vars(record)
    extra = values.get(_FIELDS)
    if extra is None:
        extra = {key: value for key, value in values.items() if key not in _STANDARD}
    if (current := request_id.get()) and "request" not in extra:
        extra["request"] = current
    return extra


def _flat(extra: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a person wants to see of *extra*: no nesting, and nothing that is empty."""
    for key, value in extra.items():
        if isinstance(value, dict):
            yield from ((inner, each) for inner, each in value.items() if each not in ("", None))
        else:
            yield key, value


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info:
        parts.append(formatter.formatException(record.exc_info))
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts)
