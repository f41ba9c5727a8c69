"""The agenda on a clock that a test turns: the real actor, and a file that says what time it is.

``ERIS_TEST_CLOCK`` names the file: JSON with the seconds since the epoch that the wall clock shows,
those that the machine has run, which run of it this is, and the zone.
"""

import json
import os
import threading
import time
from pathlib import Path

from actors.agenda.actor import Agenda
from eris.actor import run

LOOK_SECONDS = 0.02


class TurnedClock:
    """Reads the file at each look; `write` is the test's side."""

    def __init__(self, file):
        self.file = Path(file)
        self._woken = threading.Event()

    def write(self, *, wall, run, boot="first", zone="Europe/Berlin"):
        """Turn the clock."""
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps({"wall": wall, "run": run, "boot": boot, "zone": zone}))
        fresh.replace(self.file)

    def _read(self):
        return json.loads(self.file.read_text())

    def wall(self):
        return self._read()["wall"]

    def steady(self):
        now = self._read()
        return now["boot"], now["run"]

    def zone(self):
        return self._read()["zone"]

    def wait(self, until):
        """Wait for the time, or for any change that isn't the clock's usual course."""
        before = self._read()
        while not self._woken.is_set():
            now = self._read()
            jumped = abs((now["wall"] - now["run"]) - (before["wall"] - before["run"])) > 1
            if jumped or now["zone"] != before["zone"]:
                break
            if until is not None and now["wall"] >= until:
                break
            time.sleep(LOOK_SECONDS)
        self._woken.clear()

    def wake(self):
        self._woken.set()


class TurnedAgenda(Agenda):
    """The agenda, on that clock."""

    make_clock = staticmethod(lambda environ: TurnedClock(environ["ERIS_TEST_CLOCK"]))


if __name__ == "__main__":
    assert os.environ["ERIS_TEST_CLOCK"]
    run(TurnedAgenda, "agenda")
