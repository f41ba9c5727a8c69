"""Downloads from the model hub, against a stand-in on loopback."""

import os
from hashlib import sha256

import pytest

from eris.errors import DeniedError, ModelError, UnavailableError
from eris.models import Hub, ModelEntry, ModelFile, ModelStore, Part, Presence, Registry, Use
from tests.hub_stand_in import HubStandIn

CHUNK = 100_000
CONTENT = os.urandom(10 * CHUNK)


@pytest.fixture
def hub():
    stand_in = HubStandIn()
    stand_in.files["somebody/made-up/weights.gguf"] = CONTENT
    with stand_in.running():
        yield stand_in


def made_up(*sources, known: bool = False) -> ModelEntry:
    file = ModelFile(
        name="weights.gguf",
        bytes=len(CONTENT) if known else None,
        sha256=sha256(CONTENT).hexdigest() if known else None,
        sources=sources or (Hub("somebody/made-up", "weights.gguf"),),
    )
    return ModelEntry(
        name="made-up", use=Use.CHAT, description="", licence="MIT", context=64, files=(file,)
    )


@pytest.fixture
def store(hub, tmp_path):
    def make(entry: ModelEntry | None = None, **options) -> ModelStore:
        entries = [made_up() if entry is None else entry]
        return ModelStore(tmp_path, entries=entries, hub_endpoint=hub.endpoint, **options)

    return make


def test_a_model_arrives_and_is_recorded_with_the_hubs_digest(store):
    assert store().pull("made-up").read_bytes() == CONTENT
    assert store().list()[0].presence is Presence.PRESENT
    assert store().verify("made-up")[0].ok
    record = (store().path("made-up").parent / "record.json").read_text()
    assert sha256(CONTENT).hexdigest() in record


def test_size_is_asked_of_the_hub_where_the_catalogue_does_not_know_it(store, hub):
    assert store().plan("made-up").bytes_missing == len(CONTENT)
    assert hub.ranges == []


def test_a_connection_that_breaks_goes_on_where_it_broke(store, hub):
    hub.cut_after = 3 * CHUNK
    assert store().pull("made-up").read_bytes() == CONTENT
    assert hub.ranges == [None, f"bytes={3 * CHUNK}-"]


def test_an_interrupted_download_goes_on_in_the_next_attempt(store, hub):
    def interrupt(step):
        if step.done >= 4 * CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store().pull("made-up", progress=interrupt)
    assert store().list()[0].presence is Presence.PARTIAL
    steps = []
    assert store().pull("made-up", progress=steps.append).read_bytes() == CONTENT
    assert hub.ranges == [None, f"bytes={steps[0].done}-"]
    assert steps[0].done >= 4 * CHUNK
    assert steps[-1].done == len(CONTENT)


def test_content_that_is_not_what_was_announced_is_refused(store, hub):
    hub.wrong_content = True
    with pytest.raises(ModelError, match=r"weights\.gguf"):
        store().pull("made-up")
    hub.wrong_content = False
    assert store().pull("made-up").read_bytes() == CONTENT


def test_a_file_that_is_not_the_catalogues_is_refused(store, hub):
    hub.files["somebody/made-up/weights.gguf"] = bytes(len(CONTENT))
    with pytest.raises(ModelError, match="another content"):
        store(made_up(known=True)).pull("made-up")


@pytest.mark.parametrize(
    "source",
    [Hub("nobody/made-up", "weights.gguf"), Hub("somebody/made-up", "gone.gguf")],
    ids=["no such repository", "no such file"],
)
def test_what_the_hub_has_not_is_named(store, source):
    with pytest.raises(UnavailableError, match=source.file) as caught:
        store(made_up(source)).pull("made-up")
    assert not caught.value.retryable


def test_a_repository_behind_a_licence_says_what_to_do(store, hub):
    hub.gated = True
    with pytest.raises(DeniedError) as caught:
        store().pull("made-up")
    assert "HF_TOKEN" in caught.value.hint


def test_a_hub_that_is_away_can_be_tried_again(tmp_path):
    away = ModelStore(tmp_path, entries=[made_up()], hub_endpoint="http://127.0.0.1:9")
    with pytest.raises(UnavailableError, match="can't be reached") as caught:
        away.pull("made-up")
    assert caught.value.retryable


def test_offline_the_hub_is_not_even_asked_for_the_size(store, hub):
    with pytest.raises(UnavailableError, match="offline"):
        store(environ={"ERIS_OFFLINE": "1"}).plan("made-up")
    assert hub.ranges == []


NOWHERE = Registry((Part("eris-has-no-such-package", "1.0", "a.bin"),))


def without_registry() -> dict[str, str]:
    return {**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}


def test_the_next_source_is_taken_when_the_first_has_nothing(store):
    entry = made_up(NOWHERE, Hub("somebody/made-up", "weights.gguf"), known=True)
    notes = []
    store(entry, environ=without_registry()).pull(
        "made-up", progress=lambda step: notes.append(step.note)
    )
    assert any("eris-has-no-such-package" in note for note in notes)
    assert store(entry).path("made-up").read_bytes() == CONTENT


def test_when_no_source_delivers_every_reason_is_told(store):
    entry = made_up(NOWHERE, Hub("somebody/made-up", "gone.gguf"), known=True)
    with pytest.raises(UnavailableError) as caught:
        store(entry, environ=without_registry()).pull("made-up")
    assert "eris-has-no-such-package" in caught.value.message
    assert "gone.gguf" in caught.value.message
