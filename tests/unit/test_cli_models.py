"""`eris models` as a user types it."""

import json
import os
from hashlib import sha256

import pytest
from click.testing import CliRunner

from eris.cli.invocation import Invocation
from eris.cli.models import models
from eris.models import catalogue


@pytest.fixture
def eris(tmp_path):
    environ = {"HOME": str(tmp_path), "ERIS_OFFLINE": "1", "PATH": os.environ["PATH"]}

    def call(*arguments: str):
        invocation = Invocation(environ=environ, cwd=tmp_path)
        return CliRunner().invoke(models, arguments, obj=invocation, standalone_mode=False)

    return call


@pytest.fixture
def small_model(tmp_path):
    """The embedding model's folder with files of the right length and wrong content."""
    entry = next(entry for entry in catalogue() if entry.name == "minilm-l6-v2-int8")
    folder = tmp_path / ".local" / "share" / "eris" / "models" / entry.name
    folder.mkdir(parents=True)
    for file in entry.files:
        path = folder / file.name
        if file.text is not None:
            path.write_text(file.text, encoding="utf-8")
        else:
            with path.open("wb") as out:
                out.truncate(file.bytes)
    return folder


def test_list_shows_every_model_with_size_and_licence(eris):
    said = eris("list").stdout
    for entry in catalogue():
        assert entry.name in said
        assert entry.licence in said
    assert "491 MB" in said
    assert "here" not in said.split()


def test_list_as_json_is_one_document(eris, small_model):
    rows = {row["name"]: row for row in json.loads(eris("list", "--json").stdout)}
    assert rows[small_model.name]["presence"] == "present"
    assert rows["smollm2-135m"]["presence"] == "absent"
    assert rows["smollm2-135m"]["bytes"] == 98362432


def test_path_prints_the_path_and_nothing_else(eris, small_model):
    assert eris("path", small_model.name).stdout == f"{small_model}\n"


def test_a_dry_run_tells_licence_and_size_and_downloads_nothing(eris, tmp_path):
    result = eris("pull", "default", "--dry-run")
    assert "qwen2.5-coder-0.5b: 491 MB to download, licence Apache-2.0" in result.stderr
    assert result.stdout == ""
    assert not list(tmp_path.rglob("*.gguf"))


def test_pulling_offline_fails_in_words(eris):
    error = eris("pull", "smollm2-135m", "--yes").exception
    assert "offline" in error.message


def test_pulling_what_is_here_needs_no_connection(eris, small_model):
    document = json.loads(eris("pull", small_model.name, "--json").stdout)
    assert document[0]["path"] == str(small_model)
    assert document[0]["bytes_missing"] == 0


def test_verify_finds_changed_files(eris, small_model):
    result = eris("verify", small_model.name)
    assert result.return_value == 1
    assert "model.onnx: its content has changed" in result.stdout
    assert "config.json: ok" in result.stdout
    verdicts = json.loads(eris("verify", small_model.name, "--json").stdout)
    assert [verdict["ok"] for verdict in verdicts] == [False, False, True, True, True]


def test_rm_frees_the_space(eris, small_model):
    assert json.loads(eris("rm", small_model.name, "--json").stdout)["bytes_freed"] > 20_000_000
    assert not small_model.exists()


def test_a_path_of_a_file_that_is_no_model_is_refused(eris, tmp_path):
    note = tmp_path / "note.gguf"
    note.write_text("# Not a model")
    assert "note.gguf is not a GGUF file" in eris("path", str(note), "--json").exception.message


@pytest.mark.parametrize("command", sorted(models.commands))
def test_every_command_shows_an_example(eris, command):
    help_text = eris(command, "--help").stdout
    assert f"eris models {command}" in help_text


def test_digests_in_the_catalogue_look_like_digests():
    length = len(sha256().hexdigest())
    for entry in catalogue():
        for file in entry.files:
            assert file.sha256 is None or len(file.sha256) == length
