"""A command that runs beside a test, and whose output the test waits for."""

import re
import subprocess
import threading
from queue import Empty, Queue
from types import TracebackType
from typing import Final, Self

_SECONDS: Final = 20.0
_LOGGED: Final = re.compile(r"[IWE]\d{4} ")


class Background:
    """Gives the lines of a process as they come; ends the process with the block."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._lines: Queue[str | None] = Queue()
        self._reader = threading.Thread(target=self._read, name="kubectl output", daemon=True)

    def line(self) -> str:
        """The next line that is not of the log, with one space between its words."""
        while _LOGGED.match(line := self._next()):
            pass
        return " ".join(line.split())

    def await_log(self, text: str) -> None:
        """Wait until the log (`-v=6` and above) tells of *text*."""
        while not (_LOGGED.match(line := self._next()) and text in line):
            pass

    def finished(self) -> int:
        """Wait for the end of the command and give its exit code."""
        return self._process.wait(_SECONDS)

    def _next(self) -> str:
        try:
            line = self._lines.get(timeout=_SECONDS)
        except Empty:
            raise AssertionError(f"no further line within {_SECONDS} s") from None
        assert line is not None, "the command has ended"
        return line

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.decode())
        self._lines.put(None)

    def __enter__(self) -> Self:
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
