"""llama.cpp's own parser and sampler say which texts a grammar accepts.

In a process of its own: a grammar that llama.cpp can't read crashes the process that samples.
Needs a model file for its vocabulary alone.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

Job = tuple[str, Sequence[str]]
"""A grammar, and texts to judge by it."""

_CHILD = """
import json, signal, sys
import llama_cpp as cpp

cpp.llama_backend_init()
quiet = cpp.llama_log_callback(lambda *_: None)
cpp.llama_log_set(quiet, None)
parameters = cpp.llama_model_default_params()
parameters.vocab_only = True
model = cpp.llama_model_load_from_file(sys.argv[1].encode(), parameters)
vocabulary = cpp.llama_model_get_vocab(model)
limit = int(sys.argv[2])

def allowed(sampler, token):
    data = (cpp.llama_token_data * 1)(cpp.llama_token_data(token, 1.0, 0.0))
    array = cpp.llama_token_data_array(data, 1, -1, False)
    cpp.llama_sampler_apply(sampler, array)
    return data[0].logit > float("-inf")

def accepts(pristine, text):
    sampler = cpp.llama_sampler_clone(pristine)
    raw = text.encode()
    tokens = (cpp.llama_token * (len(raw) + 8))()
    count = cpp.llama_tokenize(vocabulary, raw, len(raw), tokens, len(tokens), False, False)
    try:
        for token in [*tokens[:count], cpp.llama_vocab_eos(vocabulary)]:
            if not allowed(sampler, token):
                return False
            cpp.llama_sampler_accept(sampler, token)
        return True
    finally:
        cpp.llama_sampler_free(sampler)

def verdict(gbnf, texts):
    sampler = cpp.llama_sampler_init_grammar(vocabulary, gbnf.encode(), b"root")
    if not sampler:
        return "unreadable"
    try:
        return [accepts(sampler, text) for text in texts]
    finally:
        cpp.llama_sampler_free(sampler)

for line in sys.stdin:
    signal.alarm(limit)  # ends the process, which the parent counts as too slow
    print(json.dumps(verdict(*json.loads(line))), flush=True)
"""


class Failure(StrEnum):
    """Why a grammar gave no verdicts."""

    UNREADABLE = "unreadable"
    CRASHED = "crashed"
    TOO_SLOW = "too slow"


def judge(model: Path, jobs: Sequence[Job], limit_s: int = 20) -> list[list[bool] | Failure]:
    """Give for each grammar which of its texts it accepts.

    Args:
        model: A model file; only its vocabulary is read.
        jobs: Grammars with their texts.
        limit_s: Seconds for one grammar.
    """
    found: list[list[bool] | Failure] = []
    while len(found) < len(jobs):
        lines = "".join(f"{json.dumps(job)}\n" for job in jobs[len(found) :])
        child = subprocess.run(
            [sys.executable, "-c", _CHILD, str(model), str(limit_s)],
            input=lines, capture_output=True, text=True, check=False,
        )  # fmt: skip
        answers = [json.loads(line) for line in child.stdout.splitlines()]
        found += [Failure(a) if isinstance(a, str) else a for a in answers]
        if len(found) < len(jobs):
            if not answers and child.returncode > 0:
                raise RuntimeError(child.stderr[-2_000:])
            alarmed = child.returncode == -14  # SIGALRM
            found.append(Failure.TOO_SLOW if alarmed else Failure.CRASHED)
    return found
