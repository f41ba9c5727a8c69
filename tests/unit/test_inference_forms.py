"""Which form of JSON a model finds likeliest is measured once for each file, and remembered."""

import json

import pytest
import structlog

from actors.inference.forms import (
    FILE,
    MARGIN,
    MOST_KEPT,
    PREFERRED,
    Scores,
    best,
    form_of,
    identity_of,
    measure,
    recall,
)
from eris.envelope import parse_envelope
from eris.errors import ModelError
from eris.grammar import FORMS, dump

LOG = structlog.get_logger()


class Model:
    """Finds one form likely: each character of any other costs it ten times as much."""

    def __init__(self, likes: str) -> None:
        self.likes = likes
        self.asked: list[str] = []

    def __call__(self, _messages, text):
        self.asked.append(text)
        value = parse_envelope(text)
        written = {
            "thought": value.thought,
            "status": value.status,
            "message_to_user": value.message_to_user,
            "tool_calls": [{"name": one.name, "args": one.args} for one in value.tool_calls],
        }
        cost = -0.1 if text == dump(written, FORMS[self.likes]) else -1.0
        # Tokens of three characters, the last one shorter.
        pieces = [text[at : at + 3].encode() for at in range(0, len(text), 3)]
        return [(piece, cost * len(piece)) for piece in pieces]


@pytest.mark.parametrize("form", FORMS)
def test_the_form_that_the_model_finds_likeliest_is_chosen(form, tmp_path):
    assert form_of("file", Model(form), tmp_path, LOG) == form


def test_every_character_of_an_answer_counts_once():
    for name, scores in measure(Model("compact")).items():
        expected = -0.1 if name == "compact" else -1.0
        assert scores.whole == pytest.approx(expected)
        assert scores.free == pytest.approx(expected)


def test_only_what_the_model_chooses_counts_for_the_choice():
    def likelihood(messages, text):
        return [(char.encode(), -0.5 if char in '{}[]":, \n' else -0.2) for char in text]

    free = {name: scores.free for name, scores in measure(likelihood).items()}
    assert len({round(value, 9) for value in free.values()}) == 1
    whole = {name: scores.whole for name, scores in measure(likelihood).items()}
    assert whole["compact"] > whole["spaced"] > whole["indented"]


def scored(**free: float) -> dict[str, Scores]:
    return {name: Scores(free.get(name, -1.0), -1.0) for name in FORMS}


@pytest.mark.parametrize(
    ("free", "form"),
    [
        ({}, PREFERRED),
        ({"compact": -1.0 + MARGIN / 2}, PREFERRED),
        ({"compact": -1.0 + MARGIN * 2}, "compact"),
        ({"compact": -0.9, "indented": -0.8}, "indented"),
        ({"spaced": -0.5, "indented": -0.4}, "indented"),
    ],
)
def test_the_usual_form_stays_unless_another_is_clearly_better(free, form):
    assert best(scored(**free)) == form


def test_a_file_is_measured_once(tmp_path):
    first = Model("compact")
    form_of("file", first, tmp_path, LOG)
    assert first.asked
    again = Model("spaced")
    assert form_of("file", again, tmp_path, LOG) == "compact"
    assert not again.asked
    assert form_of("another", again, tmp_path, LOG) == "spaced"
    assert form_of("file", again, tmp_path, LOG) == "compact"


def test_a_changed_file_is_another(tmp_path):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"one")
    before = identity_of(model)
    model.write_bytes(b"other")
    assert identity_of(model) != before


def test_only_so_many_files_are_remembered(tmp_path):
    for number in range(MOST_KEPT + 3):
        form_of(f"file {number}", Model("compact"), tmp_path, LOG)
    known = recall(tmp_path)
    assert len(known) == MOST_KEPT
    assert f"file {MOST_KEPT + 2}" in known
    assert "file 0" not in known


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b'{"file": {"form": 3}}', json.dumps({"file": {"form": "x"}}).encode()],
)
def test_what_cant_be_read_is_measured_anew(content, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    assert form_of("file", Model("compact"), tmp_path, LOG) == "compact"


def test_what_another_version_measured_is_measured_anew(tmp_path):
    form_of("file", Model("compact"), tmp_path, LOG)
    stored = json.loads((tmp_path / FILE).read_text())
    stored["file"]["version"] = 0
    (tmp_path / FILE).write_text(json.dumps(stored))
    assert form_of("file", Model("indented"), tmp_path, LOG) == "indented"


def test_a_model_that_fails_costs_nothing_but_the_usual_form(tmp_path):
    def broken(messages, text):
        raise ModelError("no")

    assert form_of("file", broken, tmp_path, LOG) == PREFERRED
    assert recall(tmp_path) == {}


def test_a_folder_that_cant_be_written_costs_a_measurement_each_time(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("")
    assert form_of("file", Model("compact"), folder, LOG) == "compact"
