"""Owns one tool that takes as long as a test wants it to; started under the name ``vault``.

``slow:write`` notes that it began in ``began.txt`` of the vault and ends when ``go`` is there.
Like every owner it returns its first result for a call id that it knows.
"""

import threading
import time
from pathlib import Path

import msgspec

from eris.actor import run
from eris.errors import UnavailableError
from eris.tools import Call, Outcome, Tool, ToolBox, ToolOwner
from proto.tools import Effect

_LONGEST_SECONDS = 30.0


class SlowWrite(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``slow:write``."""

    text: str


class SlowOwner(ToolOwner):
    """See the module."""

    def started(self) -> None:
        """Declare the tool."""
        self._done: dict[str, Outcome] = {}
        self._lock = threading.Lock()
        self.toolbox = ToolBox(
            [
                Tool(
                    name="slow:write",
                    description="Write slowly.",
                    hints=("write slowly",),
                    arguments=SlowWrite,
                    handler=self._write,
                    effect=Effect.WRITE,
                )
            ]
        )

    def _write(self, arguments: SlowWrite, call: Call) -> Outcome:
        vault = self.port.paths.vault
        with self._lock:
            if call.call_id not in self._done:
                with (vault / "began.txt").open("a") as began:
                    began.write(f"{call.call_id} {arguments.text}\n")
                _wait_for(vault / "go")
                self._done[call.call_id] = Outcome(content="Written.", receipt="wrote slowly")
            return self._done[call.call_id]


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while not file.exists():
        if time.monotonic() > deadline:
            raise UnavailableError(f"{file} never came.")
        time.sleep(0.01)


if __name__ == "__main__":
    run(SlowOwner, "vault")
