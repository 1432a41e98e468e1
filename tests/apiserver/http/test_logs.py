"""Lines for people and for machines, with the id of the request they belong to."""

import json
import logging
import re
import sys
from collections.abc import Iterator

import pytest

from apiserver.http.logs import (
    JSONFormatter,
    TextFormatter,
    log_config,
    quoted,
    request_id,
    write_line,
)


@pytest.fixture(autouse=True)
def outside_of_a_request() -> Iterator[None]:
    """Forget the request that another test has made in this context."""
    token = request_id.set("")
    yield
    request_id.reset(token)


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("apiserver.x", logging.INFO, "f.py", 1, message, args, None)
    made.created = 0.0
    vars(made).update(extra)
    return made


class Lines(logging.Handler):
    """Collects what is logged, as if all of it were at the same time."""

    def __init__(self, lines: list[str], formatter: logging.Formatter) -> None:
        super().__init__()
        self._lines = lines
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        record.created = 0.0
        self._lines.append(self.format(record))


def test_a_line_for_people_has_time_level_name_and_extras() -> None:
    line = TextFormatter().format(record("did %s", "it", count=2, request={"id": "r1", "x": ""}))

    assert line == "1970-01-01T00:00:00.000Z INFO apiserver.x: did it count=2 id=r1"


def test_a_line_for_machines_is_one_json_object() -> None:
    line = JSONFormatter().format(record("did\n%s", "it", error=ValueError("no")))

    entry = json.loads(line)
    assert "\n" not in line
    assert (entry["level"], entry["message"], entry["error"]) == ("info", "did\nit", "no")


@pytest.mark.parametrize("formatter", [TextFormatter(), JSONFormatter()])
def test_every_line_of_a_request_carries_its_id(formatter: logging.Formatter) -> None:
    token = request_id.set("abc-123")
    try:
        assert "abc-123" in formatter.format(record("hello"))
    finally:
        request_id.reset(token)
    assert "abc-123" not in formatter.format(record("hello"))


@pytest.mark.parametrize("formatter", [TextFormatter(), JSONFormatter()])
def test_a_traceback_is_kept(formatter: logging.Formatter) -> None:
    try:
        raise ValueError("why")
    except ValueError:
        made = record("failed", exc_info=sys.exc_info())

    assert "ValueError: why" in formatter.format(made)


@pytest.mark.parametrize("formatter", [TextFormatter(), JSONFormatter()])
def test_a_line_of_fields_reads_as_one_with_extras(formatter: logging.Formatter) -> None:
    lines: list[str] = []
    logger = logging.Logger("apiserver.x", logging.INFO)
    logger.addHandler(Lines(lines, formatter))
    fields = {"verb": "get", "count": 2, "user": "%s"}

    write_line(logger, logging.INFO, "get /100%s", fields)
    logger.log(logging.INFO, "%s", "get /100%s", extra=fields)

    assert lines[0] == lines[1]


HOSTILE = [
    "\n1970-01-01T00:00:00.000Z INFO apiserver.request: forged",
    "\r\x1b[2K\x1b[1Aforged",
    "\x00\x7f\x85\u2028\u2029\u202e\ud800",
    'x" user="root',
    "x user=root",
    "x\\",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_forges_a_line_or_a_field(text: str) -> None:
    line = TextFormatter().format(record(f"get {quoted(text)} 200", agent=text, user="ann"))

    assert line.isprintable()
    words = re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^ "])+', line.partition(": get ")[2])
    assert words == [quoted(text), "200", f"agent={quoted(text)}", "user=ann"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_message_forges_a_line(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        made = record("%s", text, exc_info=sys.exc_info())

    first, *trace = TextFormatter().format(made).split("\n")
    entry = json.loads(JSONFormatter().format(made))

    assert first.isprintable()
    assert all(line.startswith("    ") and line.isprintable() for line in trace)
    assert entry["message"] == text


def test_gunicorns_own_story_is_told_only_when_asked_for() -> None:
    levels = {
        level: log_config(form="text", level=level)["loggers"]["gunicorn.error"]["level"]
        for level in ("debug", "info", "warning", "error")
    }

    assert levels == {"debug": "INFO", "info": "WARNING", "warning": "WARNING", "error": "ERROR"}
