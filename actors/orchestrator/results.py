"""Caps what a tool result may take of the context, the same for every tool; pure.

The whole result stays in the gatekeeper's ledger; the model is told how to read on.
"""

from collections.abc import Mapping


def surely_fits(content: str, tokens: int) -> bool:
    """Whether a text needs no counting: no token is shorter than a byte."""
    return len(content.encode("utf-8", "surrogatepass")) <= tokens


def cap(content: str, cut: int, tool: str, start: int, data: Mapping[str, str | int]) -> str:
    """Return the first ``cut`` characters of a result and how to get at the rest.

    Args:
        content: What the tool said.
        cut: Characters that may be kept.
        tool: Its name.
        start: The ``offset`` that the call had, or 0.
        data: The tool's facts; ``next_offset`` marks one that can be read on.
    """
    if len(content) <= cut:
        return content
    kept = content[:cut]
    told = f"{kept}\n(Cut here: {cut} of {len(content)} characters."
    if "next_offset" not in data:
        return f"{told} Ask for less at once to see the rest.)"
    # The first line names the note, a second one the offset; the text itself comes after them.
    heading = 0
    for _ in range(2 if start else 1):
        heading = content.find("\n", heading, cut) + 1 or heading
    return f"{told} To read on, call {tool} with offset {start + cut - heading}.)"
