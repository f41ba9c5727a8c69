"""supervisor.toml: what it may say, what is ignored with a warning, what is refused."""

from pathlib import Path

import pytest

from eris.errors import ConfigurationError
from eris.supervisor.child import State
from eris.supervisor.specification import (
    FILE_NAME,
    PACKAGED_FILE,
    ChildSpecification,
    RestartPolicy,
    SupervisorSettings,
    command_of,
    environment_of,
    load,
    parse,
)
from proto.rights import ACTORS

CHILD = '[actor.vault]\ncommand = ["program"]\n'


def test_the_packaged_file_is_complete_and_clean(tmp_path: Path) -> None:
    loaded = load(None, {"HOME": str(tmp_path)})
    assert set(loaded.children) == {"bus", *ACTORS}
    assert loaded.warnings == ()
    assert next(iter(loaded.children)) == "bus"
    assert list(loaded.children)[1] == "inference", "stopped last but for the bus"


def test_the_packaged_file_is_the_one_at_the_top() -> None:
    top = Path(__file__).parents[2] / FILE_NAME
    assert PACKAGED_FILE.read_bytes() == top.read_bytes()


def test_the_wait_policy_keeps_the_model_from_spinning(tmp_path: Path) -> None:
    children = load(None, {"HOME": str(tmp_path)}).children
    for name in ("inference", "memory"):
        environment = environment_of(children[name])
        assert environment["OMP_WAIT_POLICY"] == "PASSIVE"
        assert environment["GOMP_SPINCOUNT"] == "0"
    assert "OMP_NUM_THREADS" not in environment_of(children["inference"])
    assert environment_of(children["memory"])["OMP_NUM_THREADS"] == "2"
    assert environment_of(children["router"])["OMP_NUM_THREADS"] == "1"


def test_a_users_copy_is_laid_over_key_by_key(tmp_path: Path) -> None:
    folder = tmp_path / "eris"
    folder.mkdir()
    (folder / FILE_NAME).write_text(
        '[actor.inference]\nstop_s = 99\n[actor.inference.environment]\nMINE = "1"\n'
    )
    children = load(None, {"XDG_CONFIG_HOME": str(tmp_path)}).children
    changed = children["inference"]
    assert changed.stop_s == 99
    assert changed.ready_s == 300
    assert changed.environment["MINE"] == "1"
    assert changed.environment["OMP_WAIT_POLICY"] == "PASSIVE"
    assert children["router"].stop_s == 10


@pytest.mark.parametrize("named", ["", "config.toml"])
def test_the_folder_given_with_config_wins(tmp_path: Path, named: str) -> None:
    (tmp_path / "config.toml").touch()
    (tmp_path / FILE_NAME).write_text("[actor.agenda]\nenabled = false\n")
    loaded = load(tmp_path / named, {"XDG_CONFIG_HOME": "/nowhere"})
    assert "agenda" not in loaded.children


def test_a_configuration_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nothing\.toml doesn't exist"):
        load(tmp_path / "nothing.toml", {})


def test_defaults_apply_where_an_actor_says_nothing() -> None:
    loaded = parse(f'[defaults]\nstop_s = 3\nrestart = "transient"\n{CHILD}stop_s = 4\n')
    assert loaded.children["vault"].stop_s == 4
    assert loaded.children["vault"].restart is RestartPolicy.TRANSIENT


def test_only_the_named_actors_are_started() -> None:
    other = '[actor.bus]\ncommand = ["program"]\n'
    loaded = parse(CHILD + other, '[supervisor]\nactors = ["bus"]\n')
    assert list(loaded.children) == ["bus"]


def test_the_order_of_starting_follows_the_dependencies() -> None:
    text = "".join(
        f'[actor.{name}]\ncommand = ["program"]\nafter = {after}\n'
        for name, after in (("c", '["b", "elsewhere"]'), ("a", "[]"), ("b", '["a"]'))
    )
    assert list(parse(text).children) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CHILD + "stop_sec = 3\n", ("line 3", "actor.vault.stop_sec", "stop_s")),
        ("[defaults]\n\ncolour = 1\n" + CHILD, ("line 3", "defaults.colour")),
        ("[supervisor]\npings = 1\n" + CHILD, ("line 2", "supervisor.pings")),
        ("[actors.vault]\nstop_s = 1\n" + CHILD, ("line 1", "[actors]")),
    ],
)
def test_an_unknown_key_is_a_warning_that_names_it(text: str, words: tuple[str, ...]) -> None:
    (warning,) = parse(text).warnings
    for word in words:
        assert word in warning


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CHILD + 'stop_s = "ten"\n', ("line 3", "actor.vault.stop_s", "'ten'")),
        (CHILD + "\n# why\nstop_s = -1\n", ("line 5", "actor.vault.stop_s", ">= 0.0")),
        (CHILD + 'restart = "always"\n', ("line 3", "actor.vault.restart", "'always'")),
        (CHILD + 'memory_max = "lots"\n', ("line 3", "memory_max", "512 MiB")),
        (CHILD + 'after = "bus"\n', ("line 3", "after")),
        (CHILD + "[actor.vault.environment]\nX = 1\n", ("line 3", "environment")),
        ("[actor.vault]\nstop_s = 1\n", ("line 1", "actor.vault", "no command")),
        ("[actor.vault]\ncommand = []\n", ("line 2", "command")),
        ("[defaults]\nintensity = 1.5\n" + CHILD, ("line 2", "actor.vault.intensity")),
        ("[supervisor]\nping_s = 0\n" + CHILD, ("line 2", "ping_s")),
        ("[actor]\nvault = 3\n", ("line 2", "must be a table")),
        ("[actor.vault\n", ("line 1",)),
        (CHILD + 'after = ["vault"]\n', ("line 3", "wait for each other: vault")),
    ],
)
def test_a_bad_value_is_refused_with_line_and_key(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(text)
    for word in words:
        assert word in caught.value.message
    assert caught.value.hint


def test_a_bad_value_in_a_users_copy_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").touch()
    file = tmp_path / FILE_NAME
    file.write_text("[actor.router]\nready_s = 0\n")
    with pytest.raises(ConfigurationError, match=f"{file}, line 2"):
        load(tmp_path, {})


@pytest.mark.parametrize(
    ("text", "size"), [("512 MiB", 512 << 20), ("2GiB", 2 << 30), ("1000", 1000), ("", 0)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse(f'{CHILD}memory_max = "{text}"\n').children["vault"].memory_limit() == size


def test_a_changed_specification_has_another_digest() -> None:
    first = parse(CHILD).children["vault"]
    assert first.digest() == parse(CHILD).children["vault"].digest()
    assert first.digest() != parse(CHILD + "stop_s = 3\n").children["vault"].digest()


def test_the_interpreter_is_filled_in() -> None:
    child = parse('[actor.vault]\ncommand = ["{python}", "-m", "x"]\n').children["vault"]
    assert command_of(child)[0].endswith(("python", "python3", "python3.11"))
    assert command_of(child)[1:] == ["-m", "x"]


def test_the_guide_explains_every_key() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "supervision.md").read_text(encoding="utf-8")
    for kind in (ChildSpecification, SupervisorSettings):
        for field in kind.__struct_fields__:
            assert f"`{field}`" in guide, field
    for state in State:
        assert f"| `{state}` |" in guide, state
