"""The unit that starts the system at login: systemd on Linux, launchd on macOS."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from eris.paths import Paths
from eris.supervisor.process import import_environment

_KEPT = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "ERIS_CONFIG")
"""Variables that decide where things are; a login session may set them only later."""


@dataclass(frozen=True)
class Unit:
    """A service unit that can be written."""

    path: Path
    text: str
    enable: str
    """Command that makes it start at login, and now."""


def unit_for(paths: Paths, python: str, environ: Mapping[str, str], *, macos: bool) -> Unit:
    """Return the unit for a vault.

    Args:
        paths: Places of the vault.
        python: The interpreter to run.
        environ: What decides where things are.
        macos: Whether it's for launchd.
    """
    command = [python, "-m", "eris.supervisor", "--vault", str(paths.vault)]
    kept = {name: environ[name] for name in _KEPT if environ.get(name)}
    variables = {**kept, **import_environment({})}
    if not variables["PYTHONPATH"]:
        del variables["PYTHONPATH"]
    home = Path(environ.get("HOME") or Path.home())
    return (_launch_agent if macos else _systemd)(paths, home, command, variables)


def _systemd(paths: Paths, home: Path, command: list[str], variables: dict[str, str]) -> Unit:
    name = f"eris-{paths.vault_id}.service"
    config = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
    settings = "".join(f"Environment={_quote(f'{k}={v}')}\n" for k, v in variables.items())
    text = f"""[Unit]
Description=Eris for {_escape(str(paths.vault))}

[Service]
Type=notify
ExecStart={" ".join(_quote(part).replace("$", "$$") for part in command)}
{settings}Restart=always
RestartSec=1
# A configuration that can't work, or another supervisor for this vault: trying again won't help.
RestartPreventExitStatus=78
# The children outlive a supervisor that dies and are adopted by the next one.
KillMode=process
TimeoutStartSec=600
TimeoutStopSec=180

[Install]
WantedBy=default.target
"""
    return Unit(
        path=config / "systemd" / "user" / name,
        text=text,
        enable=f"systemctl --user daemon-reload && systemctl --user enable --now {name}",
    )


def _launch_agent(paths: Paths, home: Path, command: list[str], variables: dict[str, str]) -> Unit:
    label = f"eris.{paths.vault_id}"
    arguments = "".join(f"    <string>{escape(part)}</string>\n" for part in command)
    settings = "".join(
        f"    <key>{escape(name)}</key><string>{escape(value)}</string>\n"
        for name, value in variables.items()
    )
    output = escape(os.fspath(paths.logs / "erisd.out"))
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>{label}</string>
  <key>ProgramArguments</key>
  <array>
{arguments}  </array>
  <key>EnvironmentVariables</key>
  <dict>
{settings}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict><key>Crashed</key><true/></dict>
  <key>AbandonProcessGroup</key><true/>
  <key>StandardErrorPath</key><string>{output}</string>
</dict>
</plist>
"""
    path = home / "Library" / "LaunchAgents" / f"{label}.plist"
    return Unit(path=path, text=text, enable=f"launchctl load -w {path}")


def _quote(text: str) -> str:
    """Quote a word for a unit file, where ``%`` means something too."""
    quoted = _escape(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


def _escape(text: str) -> str:
    return text.replace("%", "%%").replace("\n", " ")
