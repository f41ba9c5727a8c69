"""Fixtures of tests with a whole system of real processes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.supervised import Supervised, supervised

StartSystem = Callable[..., Supervised]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[StartSystem]:
    """Starts erisd and actors on a fresh vault, and waits until they're ready.

    ``system(actors=["bus", "vault"])`` starts those only; ``model`` is a catalogue name;
    ``configuration`` is laid over the packaged supervisor.toml; ``extra`` goes to the environment.
    Several calls in one test give several vaults.
    """
    with ExitStack() as stack:
        count = 0

        def start(
            actors: Sequence[str] = (),
            model: str = "smollm2-135m",
            configuration: str = "",
            extra: dict[str, str] | None = None,
        ) -> Supervised:
            nonlocal count
            count += 1
            names = ", ".join(f'"{name}"' for name in actors)
            text = f"[supervisor]\nactors = [{names}]\n{configuration}"
            environ = {"ERIS_MODEL_CHAT": model, **(extra or {})}
            started = stack.enter_context(supervised(tmp_path / f"system{count}", text, environ))
            started.start(within=120)
            return started

        yield start
