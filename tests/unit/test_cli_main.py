"""The command line as a whole: help, mistakes, exit codes, what is imported."""

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from eris.cli.main import COMMANDS, cli, run


def eris(*arguments, cwd, env=None):
    """Run `eris` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "eris", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env=env,
    )


def commands():
    """Every command with its path, groups' own commands included."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        yield name, command
        if isinstance(command, click.Group):
            inner = click.Context(command)
            for sub in command.list_commands(inner):
                yield f"{name} {sub}", command.get_command(inner, sub)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_in_its_help(name):
    for path, command in commands():
        if path.split()[0] == name:
            text = CliRunner().invoke(command, ["--help"]).output
            assert "Example" in text, path
            assert f"eris {path}" in text, path


def test_help_lists_every_command_and_imports_none_of_them():
    code = (
        "import sys; from eris.cli.main import run; run(['--help']);"
        "heavy = {'rich', 'prompt_toolkit', 'numpy', 'zmq', 'pykka', 'eris.actor'};"
        "print('IMPORTED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "IMPORTED []" in done.stdout
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout


MISTAKES = [
    (["statsu"], 2, "eris status"),
    (["ask", "--nonsense"], 2, "--nonsense"),
    (["config", "get"], 2, "KEY"),
    (["--set", "nonsense", "config", "show"], 2, "KEY=VALUE"),
    (["--set", "model.batch=0", "config", "show"], 78, "model.batch"),
    (["config", "get", "model.chatt"], 1, "model.chat"),
]


@pytest.mark.parametrize(("arguments", "code", "part"), MISTAKES)
def test_a_mistake_is_said_on_stderr_with_its_exit_code(arguments, code, part, capsys, monkeypatch):
    monkeypatch.delenv("ERIS_VAULT", raising=False)
    assert run(arguments) == code
    output = capsys.readouterr()
    assert part in output.err
    assert not output.out
    assert "Traceback" not in output.err


@pytest.mark.parametrize(("arguments", "code", "part"), MISTAKES)
def test_with_json_a_mistake_is_one_document_on_stdout(arguments, code, part, capsys, monkeypatch):
    monkeypatch.delenv("ERIS_VAULT", raising=False)
    assert run([*arguments, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert set(document["error"]) == {"type", "message", "hint"}


def test_the_version_is_printed(tmp_path):
    done = eris("--version", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("eris ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_completion_script(shell, capsys):
    assert run(["completion", shell]) == 0
    assert "_ERIS_COMPLETE" in capsys.readouterr().out


def test_without_a_vault_a_command_says_how_to_make_one(tmp_path):
    environ = {"PATH": "/usr/bin", "HOME": str(tmp_path)}
    done = eris("ask", "hello", cwd=tmp_path, env=environ)
    assert done.returncode == 78
    assert "eris init" in done.stderr


def test_settings_are_set_got_shown_and_checked(tmp_path):
    (tmp_path / ".eris").mkdir()
    environ = {"PATH": "/usr/bin", "HOME": str(tmp_path)}

    def config(*arguments):
        return eris("config", *arguments, cwd=tmp_path, env=environ)

    assert config("set", "turn.tool_rounds", "2").returncode == 0
    assert config("get", "turn.tool_rounds").stdout == "2\n"
    shown = json.loads(config("show", "--origin", "--json").stdout)
    assert shown["turn.tool_rounds"]["value"] == 2
    assert shown["turn.tool_rounds"]["origin"]["layer"] == "vault"
    assert config("validate").returncode == 0
    assert config("set", "turn.tool_rounds", "-2").returncode == 78
    assert config("get", "turn.tool_rounds").stdout == "2\n"
    (tmp_path / ".eris" / "config.toml").write_text("[turn]\ntool_round = 3\n")
    done = config("validate")
    assert done.returncode == 1
    assert "turn.tool_rounds" in done.stderr


def test_bad_settings_are_refused_before_anything_is_started(tmp_path):
    (tmp_path / ".eris").mkdir()
    (tmp_path / ".eris" / "config.toml").write_text("[model]\nthreads = -1\n")
    environ = {"PATH": "/usr/bin", "HOME": str(tmp_path / "home")}
    done = eris("up", cwd=tmp_path, env=environ)
    assert done.returncode == 78
    assert "config.toml, line 2: model.threads" in done.stderr
