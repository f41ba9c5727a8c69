"""``python -m actors.inference``: the inference process."""

from actors.inference.actor import InferenceActor
from eris.actor import run

if __name__ == "__main__":
    run(InferenceActor, "inference")
