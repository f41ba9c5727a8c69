"""Run the gatekeeper: ``python -m actors.gatekeeper``."""

from actors.gatekeeper.actor import Gatekeeper
from eris.actor import run

if __name__ == "__main__":
    run(Gatekeeper, "gatekeeper")
