"""The catalogue that comes with Eris."""

import msgspec
import pytest

from eris.errors import NotFoundError
from eris.models import Hub, Registry, Use, catalogue, default_model
from eris.models.catalogue import find, parse_catalogue

FILES = [(entry, file) for entry in catalogue() for file in entry.files]
IDS = [f"{entry.name}/{file.name}" for entry, file in FILES]


def test_names_are_unique_and_fit_for_folders():
    names = [entry.name for entry in catalogue()]
    assert len(set(names)) == len(names)
    assert all(name == name.lower() and "/" not in name for name in names)


@pytest.mark.parametrize(("entry", "file"), FILES, ids=IDS)
def test_a_file_is_either_written_out_or_has_sources(entry, file):
    assert (file.text is None) == bool(file.sources)
    assert "/" not in file.name


@pytest.mark.parametrize(("entry", "file"), FILES, ids=IDS)
def test_what_comes_from_the_registry_has_a_digest(entry, file):
    for source in file.sources:
        if isinstance(source, Registry):
            assert len(file.sha256) == 64
            assert file.bytes > 0


@pytest.mark.parametrize("use", Use)
def test_each_use_has_one_default_that_needs_no_hub(use):
    default = default_model(use)
    assert [entry for entry in catalogue() if entry.default and entry.use is use] == [default]
    for file in default.files:
        assert file.text is not None or isinstance(file.sources[0], Registry)


def test_every_model_tells_its_licence_and_a_size():
    for entry in catalogue():
        assert entry.licence
        assert entry.bytes or entry.about_bytes


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_chat_models_are_one_gguf_file(entry):
    if entry.use is Use.CHAT:
        assert [file.name.endswith(".gguf") for file in entry.files] == [True]


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(NotFoundError) as caught:
        find("gpt-9", catalogue())
    assert "gpt-9" in caught.value.message
    assert "smollm2-135m" in caught.value.hint


ENTRY = """
[[models]]
name = "a"
use = "chat"
description = ""
licence = "MIT"
context = 1
"""


def test_a_source_is_told_by_its_kind():
    text = f"""{ENTRY}
[[models.files]]
name = "a.gguf"
sources = [{{ kind = "hub", repository = "o/n", file = "a.gguf" }}]
"""
    assert parse_catalogue(text)[0].files[0].sources == (Hub("o/n", "a.gguf"),)


@pytest.mark.parametrize("line", ['colour = "red"', "licence = 3", 'use = "cooking"'])
def test_a_mistake_in_a_catalogue_is_refused(line):
    key = line.partition(" ")[0]
    kept = "\n".join(each for each in ENTRY.splitlines() if not each.startswith(f"{key} "))
    with pytest.raises(msgspec.ValidationError):
        parse_catalogue(f"{kept}\n{line}\nfiles = []\n")
