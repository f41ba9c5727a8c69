"""How fast the vault's index is: a generated vault of 10,000 notes, 60 MB, five links each.

``python -m tests.bench vault`` measures in a process of its own, so that its memory is the index's.
"""

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from actors.vault.index import VaultIndex
from actors.vault.vault_folder import VaultFolder
from actors.vault.watching import Watcher
from eris.vault.words import tokens
from proto.vault import IndexState, IndexStatus, MoveNote, Undo, Written
from tests import vault_generator
from tests.support import processes

NOTES = int(os.environ.get("ERIS_BENCH_NOTES", "10000"))
SEARCHES = 120
EDITS = 40
TIME_LIMIT_S = 10


def measure() -> dict[str, Any]:
    """Measure everything on a new vault, in a new process."""
    with tempfile.TemporaryDirectory(prefix="eris-bench-vault-") as name:
        folder = Path(name)
        vault_generator.generate(folder / "vault", NOTES)
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.vault", name], stdout=subprocess.PIPE, check=True
        )
        return {"vault": {**json.loads(done.stdout), "move_hub_s": _hub_moved(folder)}}


def _hub_moved(folder: Path) -> dict[str, Any]:
    """Rename the hub with all links to it, and undo that, through the actor."""
    with processes(folder) as group:
        group.start("bus")
        group.start("vault")
        port = group.connect("cli")
        while port.ask("vault", IndexStatus(), IndexState, within=60, retry=True).building:
            time.sleep(0.1)
        move = MoveNote(idem="move", note=vault_generator.HUB, target="Navel.md")
        start = time.perf_counter()
        moved = port.ask("vault", move, Written, within=120)
        between = time.perf_counter()
        port.ask("vault", Undo(idem="undo", step=moved.step), Written, within=120)
        end = time.perf_counter()
    return {
        "value": round(end - start, 2),
        "move_s": round(between - start, 2),
        "undo_s": round(end - between, 2),
        "notes_rewritten": len(moved.files) - 1,
    }


def _measured(folder: Path) -> dict[str, Any]:
    vault, state = folder / "vault", folder / "index.sqlite"
    state.unlink(missing_ok=True)
    opened = VaultFolder(vault)
    first = _seconds(lambda: _reconciled(state, opened))
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    reopened = _seconds(lambda: _reconciled(state, opened))
    index = VaultIndex(state, opened)
    searches = _searches(index, vault, random.Random(4))
    ours = {
        kind: [_seconds(partial(index.search, query)) for query in queries]
        for kind, queries in searches.items()
    }
    result = {
        "index_notes_per_s": {
            "value": round(NOTES / first),
            "seconds": round(first, 1),
            "index_mb": round(state.stat().st_size / 1e6),
        },
        "open_s": {"value": round(reopened, 2)},
        "search_ms": {
            "value": max(_p95_ms(times) for times in ours.values()),
            **{kind: _p95_ms(times) for kind, times in ours.items()},
        },
        "search_vs_rg": _against_scanner(index, vault, searches["words"]),
        "backlinks_ms": _backlinks(index),
        "reindex_one_ms": _reindexed(index, vault),
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result["rss_mb"] = {
        "value": round(peak),  # The highest, which is while the first index is made.
        "after": round(psutil.Process().memory_info().rss / 1e6),
        "worker": round(worker),  # Only while the first index is made, beside it.
    }
    index.close()
    opened.close()
    return result


def _reconciled(state: Path, opened: VaultFolder) -> None:
    index = VaultIndex(state, opened)
    index.reconcile()
    index.search("hub")
    index.close()


def _searches(index: VaultIndex, vault: Path, rng: random.Random) -> dict[str, list[str]]:
    """Queries of words that are together in some note, common and rare ones alike."""
    found: dict[str, list[str]] = {"words": [], "phrase": [], "tag": []}
    tags = [tag.name for tag in index.tags()]
    sample = [(vault / path).read_text() for path in rng.sample(vault_generator.paths(NOTES), 400)]
    while len(found["tag"]) < SEARCHES:
        lines = [line for line in rng.choice(sample).splitlines() if line[:1].isalpha()]
        runs = [words for words in map(tokens, rng.sample(lines, 3)) if len(words) >= 6]
        if len(runs) < 3:
            continue
        phrases = [words[start : start + 3] for words in runs for start in [rng.randrange(3)]]
        # Where nothing parts words, each character counts as one: three of them are a word.
        chosen = ["".join(each) if max(map(len, each)) == 1 else each[0] for each in phrases]
        found["words"].append(" ".join(chosen))
        found["phrase"].append(f'"{" ".join(phrases[0])}"')
        found["tag"].append(f"tag:{rng.choice(tags)} {chosen[0]}")
    return found


def _against_scanner(index: VaultIndex, vault: Path, queries: Sequence[str]) -> dict[str, Any]:
    """Ours and the scanner's time for the same words in the same files, in turn."""
    scanner = shutil.which("rg") or shutil.which("rg", path=str(Path(sys.executable).parent))
    ours, theirs = [], []
    for query in queries[:30]:
        wanted = [part for word in query.split() for part in ("-e", word)]
        # Without ripgrep, grep is the fastest there is everywhere; the figure says which it was.
        command = [scanner, "-lwiF", *wanted] if scanner else ["grep", "-rlwiF", *wanted]
        ours.append(_seconds(partial(index.search, query)))
        scan = partial(subprocess.run, [*command, str(vault)], stdout=subprocess.DEVNULL)
        theirs.append(_seconds(scan))
    return {
        "value": round(statistics.median(ours) / statistics.median(theirs), 2),
        "ours_ms": round(statistics.median(ours) * 1000, 1),
        "scanner_ms": round(statistics.median(theirs) * 1000, 1),
        "scanner": "ripgrep" if scanner else "grep",
    }


def _backlinks(index: VaultIndex) -> dict[str, Any]:
    paths = random.Random(4).sample(vault_generator.paths(NOTES), 180)
    hub = [_seconds(partial(index.backlinks, vault_generator.HUB)) for _ in range(20)]
    others = [_seconds(partial(index.backlinks, path)) for path in paths]
    return {
        "value": _p95_ms(hub + others),
        "hub": _p95_ms(hub),
        "hub_links": len(index.backlinks(vault_generator.HUB)),
    }


def _reindexed(index: VaultIndex, vault: Path) -> dict[str, Any]:
    """From another program's save to a search that finds it."""
    watcher = Watcher(vault, index)
    watcher.start()
    watcher.reconciled.wait(TIME_LIMIT_S)
    paths = random.Random(4).sample(vault_generator.paths(NOTES), EDITS)
    times = []
    for number, path in enumerate(paths):
        file = vault / path
        word = f"xyzzy{number:03}abc"
        content = file.read_bytes() + f"\n{word}\n".encode()
        start = time.perf_counter()
        if number % 2:
            file.write_bytes(content)
        else:  # As editors do that are careful.
            new = file.with_name(f"{file.name}.new")
            new.write_bytes(content)
            new.replace(file)
        while not index.search(f'"{word}"').found:
            time.sleep(0.002)
            if time.perf_counter() - start > TIME_LIMIT_S:
                break
        times.append(time.perf_counter() - start)
    watcher.stop()
    return {"value": _p95_ms(times), "median": round(statistics.median(times) * 1000, 1)}


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _p95_ms(times: Sequence[float]) -> float:
    return round(sorted(times)[int(len(times) * 0.95)] * 1000, 1)


if __name__ == "__main__":
    print(json.dumps(_measured(Path(sys.argv[1]))))
