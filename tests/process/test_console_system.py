"""The console attached to a whole supervised system, whatever of it dies."""

import shutil

import pytest

from tests.process.terminal import Terminal

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux for a terminal"),
]
LIGHT = ("bus", "vault", "agenda", "gatekeeper", "orchestrator")


@pytest.fixture
def started(system):
    return system(actors=LIGHT)


@pytest.fixture
def console(started):
    terminal = Terminal(started.environ | started.paths.environment())
    try:
        terminal.sees("Say something, or /help.", f"actors {len(LIGHT)}/{len(LIGHT)}")
        yield terminal
    finally:
        terminal.close()


def test_it_shows_and_restarts_the_processes(console):
    console.type("/status", "Enter")
    console.sees(*LIGHT, "0 restarts")
    console.type("/tools", "Enter")
    console.sees("vault:write", "vault:read")
    console.type("/restart vault", "Enter")
    console.sees("vault is ready again")
    console.type("/restart nobody", "Enter")
    console.sees("nobody")


def test_it_stays_open_whatever_process_is_killed(started, console):
    for name in LIGHT:
        started.kill(name)
        console.sees(f"actors {len(LIGHT)}/{len(LIGHT)}", not_=("reconnecting",))
        console.type(f"/new after-{name}", "Enter")
        console.sees(f"This is the session after-{name}.")


def test_it_stays_open_when_the_supervisor_is_killed(started, console):
    started.kill_supervisor()
    console.sees("supervisor away")
    console.type("/sessions", "Enter")
    console.sees("* main")
    started.start()
    console.sees(f"actors {len(LIGHT)}/{len(LIGHT)}")
