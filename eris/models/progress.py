"""Progress of a download as lines of text: rewritten in place on a terminal, sparse elsewhere."""

from typing import TextIO

from eris.models.fetching import Progress
from eris.models.sizes import megabytes


class ProgressLines:
    """Shows the steps of `ModelStore.pull` on a text stream."""

    def __init__(self, stream: TextIO) -> None:
        """Show on ``stream``, usually standard error."""
        self._stream = stream
        self._terminal = stream.isatty()
        self._last = ""

    def __call__(self, progress: Progress) -> None:
        """Show one step; repeats nothing that reads the same as before."""
        if progress.note:
            self._write(f"{progress.model}: {progress.note}", final=True)
            return
        if progress.total:
            tenths = min(progress.done * 1000 // progress.total, 1000)
            # Without a terminal a line for each tenth is enough.
            shown = tenths / 10 if self._terminal else float(tenths // 100 * 10)
            text = f"{shown:5.1f} % of {megabytes(progress.total)}"
        else:
            text = megabytes(progress.done)
        self._write(f"{progress.model}/{progress.file}: {text}", final=not self._terminal)

    def close(self) -> None:
        """End the line that is being rewritten."""
        if self._terminal and self._last:
            self._stream.write("\n")
            self._stream.flush()
        self._last = ""

    def _write(self, line: str, *, final: bool) -> None:
        if line == self._last:
            return
        before = "\r\x1b[K" if self._terminal else ""
        self._stream.write(before + line + ("\n" if final else ""))
        self._stream.flush()
        self._last = "" if final and self._terminal else line
