"""Starts the orchestrator: ``python -m actors.orchestrator``."""

from actors.orchestrator.actor import Orchestrator
from eris.actor import run

if __name__ == "__main__":
    run(Orchestrator, "orchestrator")
