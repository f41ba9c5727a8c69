"""What is recalled for a turn, as the prompt and the surfaces tell it; pure."""

from collections.abc import Sequence

from proto.memory import HitView, Kind

_MOST_NAME = 80


def told(hits: Sequence[HitView]) -> str:
    """Return the recalled pieces as the model is told of them, one paragraph each.

    Each begins with where it's from, so that the model can name the place; line ends in a piece
    become spaces, so that nothing in it can look like a part of the prompt.
    """
    return "\n".join(f"- ({place(hit)}) {' '.join(hit.text.split())}" for hit in hits)


def fitting(hits: Sequence[HitView], characters: int) -> tuple[HitView, ...]:
    """Return the best pieces that together have at most so many characters."""
    kept, left = [], characters
    for hit in hits:
        left -= len(hit.text)
        if left < 0:
            break
        kept.append(hit)
    return tuple(kept)


def place(hit: HitView) -> str:
    """Return where a piece is from: path with lines or page, or what it is, and its day."""
    where = hit.path or {Kind.SESSION: "said before"}.get(hit.kind, "remembered")
    if hit.kind is Kind.DOCUMENT:
        where = f"{where or hit.title}, page {hit.page}"
    elif hit.first_line:
        where = f"{where}:{hit.first_line}"
    where = where if len(where) <= _MOST_NAME else f"…{where[-_MOST_NAME:]}"
    return f"{where}, {hit.date}" if hit.date else where


def untrusted(hits: Sequence[HitView]) -> str:
    """Return where text from outside among the pieces comes from; empty if there is none."""
    found = dict.fromkeys(
        hit.origin or hit.path or hit.title
        for hit in hits
        if hit.kind is Kind.DOCUMENT or hit.origin
    )
    return ", ".join(found)
