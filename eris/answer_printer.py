"""An answer as plain lines, for surfaces that don't draw."""

from typing import TextIO

from eris.terminal_text import harmless
from proto.orchestrator import TurnState, TurnView


class AnswerPrinter:
    """Prints an answer as it's written, or at the end, and the receipts after it."""

    def __init__(self, out: TextIO, notes: TextIO, *, streaming: bool) -> None:
        self._out = out
        self._notes = notes
        self._streaming = streaming
        self._printed = ""

    def show(self, view: TurnView) -> None:
        """Print what is new in the message of a turn that is being written."""
        message = harmless(view.message)
        if not self._streaming or message == self._printed:
            return
        if not message.startswith(self._printed):
            # Another round of the turn begins its message anew.
            self.end_line()
        self._out.write(message[len(self._printed) :])
        self._out.flush()
        self._printed = message

    def finish(self, view: TurnView) -> None:
        """Print what is left: the message if it wasn't streamed, receipts, why it failed."""
        failed = view.state is not TurnState.DONE
        if failed:
            self.end_line()
            self._note(view.message or f"The turn was {view.state}.")
        else:
            self._streaming = True
            self.show(view)
            self.end_line()
        for call in view.calls:
            if call.receipt:
                self._note(f"[{call.tool}] {call.receipt}")
            elif call.state == "failed":
                self._note(f"[{call.tool}] failed: {call.content}")
        if view.notice:
            self._note(f"[{view.notice}]")
        if view.truncated:
            self._note("[the answer was cut by generation.max_tokens]")

    def end_line(self) -> None:
        """Close a line that was begun."""
        if self._printed and not self._printed.endswith("\n"):
            self._out.write("\n")
            self._out.flush()
        self._printed = ""

    def _note(self, text: str) -> None:
        self._notes.write(harmless(text) + "\n")
        self._notes.flush()
