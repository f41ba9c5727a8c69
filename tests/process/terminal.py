"""A terminal for tests: keys in, screen out. Needs tmux."""

import contextlib
import secrets
import shlex
import subprocess
import sys

from tests.support import wait_until

WITHIN = 30.0


class Terminal:
    """A terminal with a program of ours in it, by default a console."""

    def __init__(self, environ, *arguments, module="actors.console", width=100, height=30):
        self.socket = f"eris-{secrets.token_hex(4)}"
        kept = {
            key: value
            for key, value in environ.items()
            if key.startswith(("ERIS_", "XDG_", "PYTHONPATH"))
        }
        variables = [f"{key}={value}" for key, value in kept.items()]
        command = ["env", *variables, sys.executable, "-m", module, *arguments]
        line = f"{shlex.join(command)}; echo LEFT WITH $?; exec cat"
        size = ["-x", str(width), "-y", str(height)]
        self.tmux("-f", "/dev/null", "new-session", "-d", *size, line)

    def tmux(self, *arguments):
        done = subprocess.run(
            ["tmux", "-L", self.socket, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return done.stdout

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text, *keys):
        self.tmux("send-keys", "-l", text)
        if keys:
            self.press(*keys)

    def sees(self, *words, not_=()):
        def there():
            text = self.screen()
            return all(word in text for word in words) and not any(word in text for word in not_)

        try:
            wait_until(there, WITHIN)
        except AssertionError:
            message = f"{words} and not {not_} weren't shown:\n{self.screen()}"
            raise AssertionError(message) from None

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self.tmux("kill-server")
