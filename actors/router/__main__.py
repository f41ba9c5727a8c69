"""Run the router: ``python -m actors.router``."""

from actors.router.actor import Router
from eris.actor import run

if __name__ == "__main__":
    run(Router, "router")
