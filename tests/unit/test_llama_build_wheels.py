"""Which wheel of llama-cpp-python is taken, built or thrown away."""

import hashlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from eris.llama_build.processor import Processor
from eris.llama_build.trial import _QUANTISATIONS as QUANTISATIONS
from eris.llama_build.trial import Trial, judge, tiny_model, try_wheel
from eris.llama_build.wheels import (
    VERSION,
    BuildError,
    Pin,
    build_wheel,
    cache_folder,
    choose,
    key,
    locked,
)
from eris.models.gguf import parse_header
from tests.wheel_files import write_wheel

PROCESSOR = Processor("Linux", "x86_64", frozenset({"avx2"}))
OTHER_PROCESSOR = Processor("Linux", "x86_64", frozenset({"avx"}))
BEST, FEWER = ("-DBEST=ON",), ("-DFEWER=ON",)
GOOD = Trial(runs=True)
ILLEGAL = Trial(runs=False, illegal_instruction=True, problem="SIGILL")
BROKEN = Trial(runs=False, problem="no numpy")


class Workshop:
    """Counts builds and answers trials from a table."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.built: list[tuple[str, ...]] = []
        self.trials: dict[str, list[Trial]] = {}
        self.said: list[str] = []

    def folder(self, flags, processor=PROCESSOR) -> Path:
        return self.cache / f"{VERSION}-{key(flags, processor)}"

    def put(self, flags, name: str) -> Path:
        self.folder(flags).mkdir(parents=True)
        wheel = self.folder(flags) / name
        wheel.write_bytes(b"")
        return wheel

    def build(self, flags, folder: Path) -> Path:
        self.built.append(tuple(flags))
        wheel = folder / "new.whl"
        wheel.write_bytes(b"")
        return wheel

    def trial(self, wheel: Path) -> Trial:
        return self.trials.get(wheel.name, [GOOD]).pop(0)

    def choose(self, processor=PROCESSOR):
        return choose(
            [BEST, FEWER],
            processor,
            self.cache,
            report=self.said.append,
            build=self.build,
            trial=self.trial,
        )


@pytest.fixture
def workshop(tmp_path) -> Workshop:
    return Workshop(tmp_path)


def test_without_a_cache_the_best_is_built_once(workshop):
    flags, wheel = workshop.choose()
    assert flags == BEST
    assert workshop.choose() == (flags, wheel)
    assert workshop.built == [BEST]


def test_a_cached_wheel_that_runs_is_taken(workshop):
    wheel = workshop.put(BEST, "cached.whl")
    assert workshop.choose() == (BEST, wheel)
    assert workshop.built == []


@pytest.mark.parametrize("trial", [ILLEGAL, BROKEN], ids=["SIGILL", "broken"])
def test_a_cached_wheel_that_does_not_run_is_built_anew(workshop, trial):
    cached = workshop.put(BEST, "cached.whl")
    workshop.trials["cached.whl"] = [trial]
    flags, wheel = workshop.choose()
    assert (flags, wheel.name) == (BEST, "new.whl")
    assert not cached.exists()
    assert any(trial.problem in sentence for sentence in workshop.said)


def test_a_wheel_of_another_processor_is_not_taken(workshop):
    workshop.put(BEST, "cached.whl")
    workshop.choose(OTHER_PROCESSOR)
    assert workshop.built == [BEST]


def test_flags_that_trap_are_remembered_and_fewer_are_taken(workshop):
    workshop.trials["new.whl"] = [ILLEGAL, GOOD, GOOD]
    assert workshop.choose()[0] == FEWER
    assert workshop.choose()[0] == FEWER
    assert workshop.built == [BEST, FEWER]


def test_when_nothing_runs_it_says_so(workshop):
    workshop.trials["new.whl"] = [ILLEGAL, ILLEGAL]
    with pytest.raises(BuildError, match="No build"):
        workshop.choose()


def test_a_fresh_build_that_fails_otherwise_is_not_hidden_by_fewer_flags(workshop):
    workshop.trials["new.whl"] = [BROKEN]
    with pytest.raises(BuildError, match="no numpy"):
        workshop.choose()
    assert workshop.built == [BEST]


@pytest.mark.parametrize(
    ("flags", "processor"),
    [(FEWER, PROCESSOR), (BEST, OTHER_PROCESSOR), ((*BEST, "-DGGML_CUDA=ON"), PROCESSOR)],
)
def test_the_key_tells_builds_apart(flags, processor):
    assert key(BEST, PROCESSOR) == key(list(BEST), PROCESSOR)
    assert key(flags, processor) != key(BEST, PROCESSOR)


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"XDG_CACHE_HOME": "/c"}, "/c/eris/wheels"),
        ({"HOME": "/h"}, "/h/.cache/eris/wheels"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "/h/.cache/eris/wheels"),
    ],
)
def test_wheels_are_kept_in_the_users_cache(environ, folder):
    assert cache_folder(environ) == Path(folder)


def _hold(cache, held, release) -> None:
    with locked(cache, lambda _: None):
        held.set()
        release.wait(30)


def test_two_builds_do_not_run_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    held, release = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, held, release))
    process.start()
    try:
        assert held.wait(30)

        def say(sentence: str) -> None:
            assert "waiting" in sentence
            release.set()

        with locked(tmp_path, say):
            assert release.is_set()
    finally:
        release.set()
        process.join(30)


@pytest.mark.parametrize(
    ("code", "said", "trial"),
    [
        (0, "", GOOD),
        (
            1,
            "Traceback\nImportError: no numpy\n",
            Trial(runs=False, problem="ImportError: no numpy"),
        ),
        (3, "", Trial(runs=False, problem="it ended with code 3")),
        (-signal.SIGSEGV, "", Trial(runs=False, problem="it died of SIGSEGV")),
    ],
)
def test_the_end_of_a_trial_is_put_in_words(code, said, trial):
    assert judge(code, said) == trial


# Builds a wheel that contains the flags it was built with; "-DFAIL=ON" fails.
BACKEND = """
import os, sys, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    flags = os.environ["CMAKE_ARGS"]
    if "FAIL" in flags:
        sys.exit("no compiler found")
    name = "made_up-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        wheel.writestr("made_up.txt", flags)
        folder = "made_up-1.0.dist-info/"
        metadata = ["Metadata-Version: 2.1", "Name: made-up", "Version: 1.0"]
        wheel.writestr(folder + "METADATA", os.linesep.join(metadata))
        tags = ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"]
        wheel.writestr(folder + "WHEEL", os.linesep.join(tags))
        wheel.writestr(folder + "RECORD", "")
    return name
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
METADATA = "Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n"


@pytest.fixture
def source(tmp_path) -> Pin:
    """A source distribution that pip finds in a folder."""
    files = {"PKG-INFO": METADATA, "pyproject.toml": PROJECT, "backend.py": BACKEND}
    path = tmp_path / "sources" / "made_up-1.0.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"made_up-1.0/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return Pin("made-up", "1.0", hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def environ(tmp_path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    sources = str(tmp_path / "sources")
    return {
        **kept,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": sources,
    }


def test_flags_reach_the_build_and_pip_keeps_no_wheel_of_other_flags(tmp_path, source, environ):
    for flags in (BEST, FEWER):
        wheel = build_wheel(flags, tmp_path, environ, source)
        assert wheel.parent == tmp_path
        assert zipfile.ZipFile(wheel).read("made_up.txt").decode() == " ".join(flags)
    assert not list(tmp_path.glob("new-*"))


def test_a_changed_source_is_not_built(tmp_path, source, environ):
    changed = Pin(source.package, source.version, "0" * 64)
    with pytest.raises(BuildError, match="DO NOT MATCH"):
        build_wheel(BEST, tmp_path, environ, changed)


def test_a_build_that_fails_says_why_and_where_the_log_is(tmp_path, source, environ):
    with pytest.raises(BuildError, match="no compiler found") as caught:
        build_wheel(("-DFAIL=ON",), tmp_path, environ, source)
    assert str(tmp_path / "build.log") in str(caught.value)
    assert not list(tmp_path.glob("*.whl"))


ILLEGAL_PACKAGE = b"import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n"


@pytest.mark.parametrize(
    ("source", "illegal", "problem"),
    [
        (ILLEGAL_PACKAGE, True, "instructions"),
        (b"import no_such_module\n", False, "no_such_module"),
        (b"", False, "llama_backend_init"),
    ],
    ids=["dies of SIGILL", "doesn't import", "is something else"],
)
def test_a_wheel_is_tried_in_a_process_of_its_own(tmp_path, source, illegal, problem):
    wheel = write_wheel(tmp_path, "llama-cpp-python", VERSION, {"llama_cpp/__init__.py": source})
    trial = try_wheel(wheel)
    assert not trial.runs
    assert trial.illegal_instruction is illegal
    assert problem in trial.problem


def test_a_damaged_wheel_does_not_run(tmp_path):
    wheel = tmp_path / "damaged.whl"
    wheel.write_bytes(b"PK\x03\x04")
    assert "damaged.whl" in try_wheel(wheel).problem


@pytest.mark.parametrize("name", QUANTISATIONS)
def test_the_model_of_a_trial_is_a_whole_gguf_file(name):
    data = tiny_model(QUANTISATIONS[name])
    assert parse_header(data).needed_bytes == len(data)


def test_the_package_needs_the_standard_library_only():
    root = str(Path(__file__).parents[2])
    program = f"import sys; sys.path.insert(0, {root!r}); import eris.llama_build"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, timeout=60)
