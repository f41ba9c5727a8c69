"""llama.cpp's own HTTP server in a process: ``python -m tests.model_server FILE CONTEXT PORT``."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx

from eris.models.store import ModelStore
from eris.paths import models_folder
from tests.support import REPOSITORY, wait_until

CONTEXT = 2048


class ModelServer:
    """A `llama-server` with the smallest model."""

    def __init__(self, context: int = CONTEXT):
        self.context = context
        self.model = ModelStore(models_folder(os.environ)).path("smollm2-135m")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        """Start it, again on the same port, and wait until the model is loaded."""
        command = [sys.executable, "-m", "tests.model_server", str(self.model)]
        self.process = subprocess.Popen(
            [*command, str(self.context), str(self.port)],
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self.healthy, 60, "the model server answers")

    def healthy(self):
        """Whether the model is loaded."""
        assert self.process.poll() is None
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.url}/health", trust_env=False).is_success
        return False

    def working(self):
        """Whether an answer is being written."""
        slots = httpx.get(f"{self.url}/slots", trust_env=False).json()
        return any(slot["is_processing"] for slot in slots)

    def kill(self):
        """End it at once."""
        self.process.kill()
        self.process.wait(10)


def free_port():
    """A TCP port that nobody has just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def model_server(context: int = CONTEXT) -> Iterator[ModelServer]:
    """A running server; gone afterwards."""
    server = ModelServer(context)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def serve(model: Path, context: int, port: int) -> None:
    """Serve until killed."""
    import xllamacpp  # noqa: PLC0415 - a library of its own beside llama-cpp-python

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.port = port
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.endpoint_slots = True
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
