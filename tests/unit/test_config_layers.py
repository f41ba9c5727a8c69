"""Settings: which layer wins, what is refused, and where it's said to stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eris.config import (
    KEYS,
    Layer,
    Settings,
    load_settings,
    nearest_key,
    user_file,
    value_of,
    variable_of,
    vault_file,
)
from eris.errors import ConfigurationError


@pytest.fixture
def vault(tmp_path):
    folder = tmp_path / "vault"
    (folder / ".eris").mkdir(parents=True)
    return folder


@pytest.fixture
def environ(tmp_path):
    home = tmp_path / "home"
    (home / ".config" / "eris").mkdir(parents=True)
    return {"HOME": str(home)}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_without_any_file_every_value_is_its_default(environ):
    loaded = load_settings(None, environ)
    assert loaded.settings == Settings()
    assert {origin.layer for origin in loaded.origins.values()} == {Layer.DEFAULT}
    assert set(loaded.origins) == set(KEYS)


LAYERS = [Layer.USER, Layer.VAULT, Layer.ENVIRONMENT, Layer.FLAG]


@pytest.mark.parametrize("count", range(1, len(LAYERS) + 1))
def test_the_strongest_layer_that_sets_a_key_wins(vault, environ, count):
    overrides = {}
    for number, layer in enumerate(LAYERS[:count], start=1):
        match layer:
            case Layer.USER:
                write(user_file(environ), f"[turn]\ntool_rounds = {number}\n")
            case Layer.VAULT:
                write(vault_file(vault), f"[turn]\ntool_rounds = {number}\n")
            case Layer.ENVIRONMENT:
                environ["ERIS_TURN_TOOL_ROUNDS"] = str(number)
            case Layer.FLAG:
                overrides["turn.tool_rounds"] = str(number)
    loaded = load_settings(vault, environ, overrides)
    assert loaded.settings.turn.tool_rounds == count
    assert loaded.origins["turn.tool_rounds"].layer is LAYERS[count - 1]


def test_a_layer_that_sets_another_key_leaves_the_rest_alone(vault, environ):
    write(user_file(environ), '[model]\nchat = "mine"\nthreads = 3\n')
    write(vault_file(vault), "[model]\nthreads = 1\n")
    loaded = load_settings(vault, environ)
    assert (loaded.settings.model.chat, loaded.settings.model.threads) == ("mine", 1)
    assert str(loaded.origins["model.threads"]) == f"vault ({vault_file(vault)}:2)"


UNKNOWN = [
    ("[model]\nchait = 1\n", "model.chait", 2, "model.chat"),
    ("\n\n[rooter]\nlimit = 1\n", "rooter", 3, ""),
    ("log_levle = 'info'\n", "log_levle", 1, "log_level"),
    ("threads = 2\n", "threads", 1, "model.threads"),
    ("[model]\ntool_rounds = 2\n", "model.tool_rounds", 2, "turn.tool_rounds"),
]


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_key_is_a_warning_with_its_place_and_the_nearest_right_one(vault, environ, case):
    text, key, line, near = case
    write(vault_file(vault), text)
    loaded = load_settings(vault, environ)
    assert loaded.settings == Settings()
    (warning,) = loaded.warnings
    assert (warning.key, warning.line, warning.path) == (key, line, str(vault_file(vault)))
    assert key in warning.message
    assert near in warning.hint


def test_an_unknown_variable_of_a_section_is_a_warning_that_names_the_right_one(environ):
    (warning,) = load_settings(None, environ | {"ERIS_MODEL_CHAIT": "x"}).warnings
    assert "ERIS_MODEL_CHAIT" in warning.message
    assert "ERIS_MODEL_CHAT" in warning.hint


@pytest.mark.parametrize(
    "name", ["ERIS_VAULT", "ERIS_VAULT_ID", "ERIS_RUNTIME_DIR", "ERIS_ACTOR", "ERIS_STATE_DIR"]
)
def test_the_variables_that_processes_hand_on_are_no_settings(environ, name):
    assert load_settings(None, environ | {name: "/somewhere"}).warnings == ()


BAD = [
    ("[model]\nthreads = -1\n", "model.threads", 2),
    ("[model]\nthreads = 'two'\n", "model.threads", 2),
    ("# comment\n[router]\n\nthreshold = 1.5\n", "router.threshold", 4),
    ("log_level = 'loud'\n", "log_level", 1),
    ("model = 3\n", "model", 1),
    ("[tools]\ndenied = 'vault:write'\n", "tools.denied", 2),
    ("[bus]\ntcp = 'localhost'\n", "bus.tcp", 2),
    ("[vault]\nread_only = 'Archive'\n", "vault.read_only", 2),
    ("[vault]\nread_only = ['Archive', '/etc']\n", "vault.read_only", 2),
    ("[vault]\nread_only = ['']\n", "vault.read_only", 2),
    ("[vault]\nskills = ['../skills']\n", "vault.skills", 2),
    ("[vault]\nagent_folder = '.eris'\n", "vault.agent_folder", 2),
    ("[vault]\nagent_folder = 'Eris/'\n", "vault.agent_folder", 2),
    ("[vault]\nagent_folder = 'a/.b'\n", "vault.agent_folder", 2),
    ("[vault]\nagent_folder = '~/a'\n", "vault.agent_folder", 2),
    ("[vault]\nagent_folder = 'C:/a'\n", "vault.agent_folder", 2),
    ("[vault]\nagent_folder = 'a\\b'\n", "vault.agent_folder", 2),
    ("model = { threads = -1 }\n", "model.threads", 1),
    ("model.threads = -1\n", "model.threads", 1),
]


@pytest.mark.parametrize(("text", "key", "line"), BAD)
def test_a_bad_value_is_refused_with_file_line_and_key(vault, environ, text, key, line):
    write(vault_file(vault), text)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(vault, environ)
    assert caught.value.details == {"key": key, "path": str(vault_file(vault)), "line": line}
    assert f"{vault_file(vault)}, line {line}: {key} " in caught.value.message
    assert caught.value.hint


def test_a_path_that_leads_out_of_the_vault_is_refused_in_words(vault, environ):
    write(vault_file(vault), "[vault]\nread_only = ['Archive', '../other']\n")
    with pytest.raises(ConfigurationError, match="expected a path in the vault such as") as caught:
        load_settings(vault, environ)
    assert "regex" not in caught.value.message


def test_a_path_in_the_vault_may_have_spaces_any_script_and_an_extension(vault, environ):
    paths = ("Work", "00_Invariants/Me.md", "Müll & Co/日記", "v1.2 (old)")
    write(vault_file(vault), f"[vault]\nread_only = {list(paths)}\n")
    assert load_settings(vault, environ).settings.vault.read_only == paths


def test_a_bad_variable_is_refused_by_name(environ):
    with pytest.raises(ConfigurationError, match="ERIS_MODEL_THREADS"):
        load_settings(None, environ | {"ERIS_MODEL_THREADS": "many"})


def test_a_file_that_is_no_toml_is_refused_with_the_line(vault, environ):
    write(vault_file(vault), "[model]\nchat = \n")
    with pytest.raises(ConfigurationError, match="line 2"):
        load_settings(vault, environ)


def test_a_named_settings_file_that_is_missing_is_refused(environ):
    with pytest.raises(ConfigurationError, match=r"nowhere\.toml"):
        load_settings(None, environ | {"ERIS_CONFIG": "/nowhere.toml"})


def test_a_list_in_a_variable_is_separated_by_commas(environ):
    environ["ERIS_TOOLS_DENIED"] = "vault:write, clock:now"
    assert load_settings(None, environ).settings.tools.denied == ("vault:write", "clock:now")


def test_eris_config_may_name_a_folder(environ, tmp_path):
    write(tmp_path / "folder" / "config.toml", "[turn]\ntool_rounds = 2\n")
    environ["ERIS_CONFIG"] = str(tmp_path / "folder")
    assert load_settings(None, environ).settings.turn.tool_rounds == 2


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_takes_its_own_default_as_text(environ, key):
    default = value_of(Settings(), key)
    text = ",".join(default) if isinstance(default, tuple) else str(default)
    assert load_settings(None, environ | {variable_of(key): text}).settings == Settings()


@given(st.text(max_size=30))
def test_the_nearest_key_is_a_key_or_nothing(text):
    assert nearest_key(text) in {*KEYS, ""}
