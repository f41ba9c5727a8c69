"""Making and adopting vaults: nothing of the user's is touched, nothing is nested."""

import json

import pytest

from eris.cli.init import make_vault
from eris.cli.main import run
from eris.config import load_settings
from eris.errors import ConflictError, InvalidError, StorageError
from eris.vault.layout import LAYOUTS, LayoutName


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


def contents(folder):
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_new_vault_has_settings_an_id_and_a_welcome_note(tmp_path, environ):
    made = make_vault(tmp_path / "notes", "", environ)
    assert set(made.created) == {".eris/config.toml", ".eris/id", "Welcome.md"}
    assert set(contents(tmp_path / "notes")) == set(made.created)
    assert (tmp_path / "notes" / ".eris" / "id").read_text().strip() == made.vault_id
    assert load_settings(tmp_path / "notes", environ).warnings == ()


@pytest.mark.parametrize("name", ["with spaces and 🐙", "x" * 200, 'quote\'d "name"'])
def test_any_folder_name_will_do(tmp_path, environ, name):
    assert make_vault(tmp_path / name, name, environ).vault == str(tmp_path / name)
    assert load_settings(tmp_path / name, environ).settings.vault.name == name


def test_an_obsidian_vault_is_adopted_without_touching_a_file(tmp_path, environ):
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / ".obsidian" / "app.json").write_text('{"newLinkFormat": "shortest"}')
    (vault / "Daily").mkdir()
    (vault / "Daily" / "2026-01-01.md").write_text("---\ntags: [x]\n---\nHello\n")
    before = contents(vault)
    made = make_vault(vault, "", environ)
    assert made.obsidian
    after = contents(vault)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {".eris/config.toml", ".eris/id"}


def test_doing_it_again_changes_nothing(tmp_path, environ):
    first = make_vault(tmp_path / "notes", "", environ)
    (tmp_path / "notes" / "Welcome.md").unlink()
    before = contents(tmp_path / "notes")
    second = make_vault(tmp_path / "notes", "", environ)
    assert second.created == ()
    assert second.vault_id == first.vault_id
    assert contents(tmp_path / "notes") == before


@pytest.mark.parametrize("layout", LayoutName)
def test_a_new_vault_has_the_notes_and_the_settings_of_its_layout(tmp_path, environ, layout):
    vault = tmp_path / "notes"
    made = make_vault(vault, "Garden", environ, layout)
    notes = LAYOUTS[layout].notes
    assert set(made.created) == {".eris/config.toml", ".eris/id", *notes}
    assert {path: (vault / path).read_text(encoding="utf-8") for path in notes} == notes
    loaded = load_settings(vault, environ)
    assert loaded.warnings == ()
    assert loaded.settings.vault.name == "Garden"
    for field in ("read_only", "agent_folder", "skills"):
        assert getattr(loaded.settings.vault, field) == getattr(LAYOUTS[layout].settings, field)


def test_the_numbered_layout_made_again_changes_nothing(tmp_path, environ):
    vault = tmp_path / "notes"
    make_vault(vault, "", environ, LayoutName.NUMBERED)
    before = contents(vault)
    again = make_vault(vault, "", environ, LayoutName.NUMBERED)
    assert (again.created, again.settings) == ((), ())
    assert contents(vault) == before


def test_a_vault_that_is_in_the_numbered_layout_already_gets_its_settings_only(tmp_path, environ):
    vault = tmp_path / "notes"
    for folder in LAYOUTS[LayoutName.NUMBERED].folders:
        (vault / folder).mkdir(parents=True)
    (vault / "00_Invariants" / "Identity.md").write_text("I am I.\n")
    made = make_vault(vault, "", environ, LayoutName.NUMBERED)
    assert made.created == (".eris/config.toml", ".eris/id")
    assert set(contents(vault)) == {*made.created, "00_Invariants/Identity.md"}
    assert load_settings(vault, environ).settings.vault.read_only == ("00_Invariants",)


def test_what_the_user_has_set_is_not_taken_back_by_a_layout(tmp_path, environ):
    vault = tmp_path / "notes"
    make_vault(vault, "", environ, LayoutName.NUMBERED)
    settings = vault / ".eris" / "config.toml"
    settings.write_text('[vault]\nread_only = ["00_Invariants", "30_Synthesis"]\n')
    made = make_vault(vault, "", environ, LayoutName.NUMBERED)
    assert made.settings == ("vault.agent_folder", "vault.skills", "memory.layout")
    vault_settings = load_settings(vault, environ).settings.vault
    assert vault_settings.read_only == ("00_Invariants", "30_Synthesis")
    assert vault_settings.agent_folder == "20_Discourse"


def test_a_folder_with_other_notes_is_not_put_into_a_layout(tmp_path, environ):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.md").write_text("Hello")
    before = contents(tmp_path)
    with pytest.raises(ConflictError, match="00_Invariants, 10_Topology") as caught:
        make_vault(tmp_path / "notes", "", environ, LayoutName.NUMBERED)
    assert "Leave out --layout" in caught.value.hint
    assert contents(tmp_path) == before


def test_a_vault_does_not_change_its_layout(tmp_path, environ):
    make_vault(tmp_path / "notes", "", environ)
    (tmp_path / "notes" / "Welcome.md").unlink()
    before = contents(tmp_path)
    with pytest.raises(ConflictError, match="in use"):
        make_vault(tmp_path / "notes", "", environ, LayoutName.NUMBERED)
    assert contents(tmp_path) == before


def test_settings_that_are_there_are_kept_when_the_vault_gets_a_name(tmp_path, environ):
    vault = tmp_path / "notes"
    make_vault(vault, "", environ)
    settings = vault / ".eris" / "config.toml"
    settings.write_text("# mine\n[turn]\ntool_rounds = 2\n")
    make_vault(vault, "Garden", environ)
    assert settings.read_text() == '# mine\n[turn]\ntool_rounds = 2\n\n[vault]\nname = "Garden"\n'


def prepare_file(folder):
    (folder / "notes").write_text("I am a file.")
    return folder / "notes"


def prepare_missing_parent(folder):
    return folder / "not" / "there" / "notes"


def prepare_inside_a_vault(folder):
    (folder / "outer" / ".eris").mkdir(parents=True)
    (folder / "outer" / "deep").mkdir()
    return folder / "outer" / "deep" / "notes"


def prepare_inside_an_obsidian_vault(folder):
    (folder / "outer" / ".obsidian").mkdir(parents=True)
    return folder / "outer" / "notes"


def prepare_around_a_vault(folder):
    (folder / "outer" / "a" / "b" / ".eris").mkdir(parents=True)
    return folder / "outer"


REFUSED = [
    (prepare_file, InvalidError, "is a file"),
    (prepare_missing_parent, InvalidError, "isn't there"),
    (prepare_inside_a_vault, ConflictError, "is inside the vault"),
    (prepare_inside_an_obsidian_vault, ConflictError, "inside the Obsidian vault"),
    (prepare_around_a_vault, ConflictError, "a vault inside"),
]


@pytest.mark.parametrize(("prepare", "error", "words"), REFUSED)
def test_a_place_that_cannot_be_a_vault_is_refused_and_left_as_it_was(
    tmp_path, environ, prepare, error, words
):
    path = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error, match=words) as caught:
        make_vault(path, "", environ)
    assert caught.value.hint
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_written_to_is_refused_with_a_sentence(tmp_path, environ):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / ".eris").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="can't be written to"):
        make_vault(tmp_path / "notes", "", environ)


def test_the_command_says_what_to_do_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert run(["init", str(tmp_path / "my notes"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is True
    assert document["vault"] == str(tmp_path / "my notes")
    assert run(["init", str(tmp_path / "my notes")]) == 0
    told = capsys.readouterr().out
    assert "nothing was changed" in told
    assert f"eris up --vault '{tmp_path / 'my notes'}'" in told
    assert run(["init", str(tmp_path / "my notes"), "--name", "Garden"]) == 0
    assert "is a vault already; set vault.name." in capsys.readouterr().out


def test_the_command_takes_the_name_of_a_layout(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert run(["init", str(tmp_path / "notes"), "--layout", "numbered", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["settings"] == [
        "vault.read_only",
        "vault.agent_folder",
        "vault.skills",
        "memory.layout",
    ]
    assert (tmp_path / "notes" / "30_Synthesis" / "README.md").is_file()
    assert run(["init", str(tmp_path / "other"), "--layout", "round"]) == 2
    assert "numbered" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
