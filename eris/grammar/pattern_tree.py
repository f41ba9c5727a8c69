"""What can be said about a pattern's tree as it stands: lengths, and whether it can be written."""

from dataclasses import replace

from eris.grammar.charset import CharSet
from eris.grammar.pattern import Anchor, Both, Chars, Concat, Either, Look, Node, Times


def needs_automaton(node: Node) -> bool:
    """Whether a tree can't be written as it stands, for an anchor or a condition in it."""
    match node:
        case Anchor() | Both():
            return True
        case Concat(parts) | Either(parts):
            return any(map(needs_automaton, parts))
        case Times(body, _, _):
            return needs_automaton(body)
        case _:
            return False


def lengths(node: Node) -> tuple[int, int | None]:
    """Give the lengths of the shortest and the longest text; None means without limit."""
    match node:
        case Chars():
            return 1, 1
        case Anchor() | Look():
            return 0, 0
        case Both(wanted, _):
            return lengths(wanted[0])
        case Concat(parts):
            pairs = [lengths(part) for part in parts]
            highs = [high for _, high in pairs]
            known = [high for high in highs if high is not None]
            return sum(low for low, _ in pairs), sum(known) if len(known) == len(highs) else None
        case Either(options):
            pairs = [lengths(option) for option in options]
            known = [high for _, high in pairs if high is not None]
            most = max(known) if len(known) == len(pairs) else None
            return min(low for low, _ in pairs), most
        case Times(body, minimum, maximum):
            low, high = lengths(body)
            most = None if maximum is None or high is None else high * maximum
            return low * minimum, 0 if high == 0 else most


def bounded(node: Node, minimum: int, maximum: int | None) -> Node | None:
    """Put length bounds onto a simple pattern: one repeated set of characters among fixed parts.

    Returns None when the pattern isn't that simple.
    """
    if isinstance(node, Either):
        options = [bounded(option, minimum, maximum) for option in node.options]
        known = [option for option in options if option is not None]
        return Either(tuple(known)) if len(known) == len(options) else None
    parts = node.parts if isinstance(node, Concat) else (node,)
    merged: list[Node] = []
    for part in parts:
        last = merged[-1] if merged else None
        both = None if last is None else _joined(last, part)
        if both is None:
            merged.append(part)
        else:
            merged[-1] = both
    loose = [index for index, part in enumerate(merged) if not _fixed(part)]
    if not loose:
        loose = [len(merged) - 1] if merged else []
    if len(loose) != 1:
        return None
    place = loose[0]
    part = merged[place]
    piece = Times(part, 1, 1) if isinstance(part, Chars) else part
    if not isinstance(piece, Times) or not isinstance(piece.body, Chars):
        return None
    others = sum(lengths(other)[0] for index, other in enumerate(merged) if index != place)
    highs = [high for high in (piece.maximum, _less(maximum, others)) if high is not None]
    least = max(piece.minimum, minimum - others)
    most = min(highs, default=None)
    if most is not None and most < least:
        return Chars(CharSet())  # no text fits
    merged[place] = replace(piece, minimum=least, maximum=most)
    return merged[0] if len(merged) == 1 else Concat(tuple(merged))


def _less(maximum: int | None, others: int) -> int | None:
    return None if maximum is None else maximum - others


def _fixed(node: Node) -> bool:
    low, high = lengths(node)
    return low == high and not needs_automaton(node)


def _joined(one: Node, other: Node) -> Times | None:
    """Join neighbouring repetitions of the same set of characters."""
    left = Times(one, 1, 1) if isinstance(one, Chars) else one
    right = Times(other, 1, 1) if isinstance(other, Chars) else other
    if not isinstance(left, Times) or not isinstance(right, Times) or left.body != right.body:
        return None
    if not isinstance(left.body, Chars):
        return None
    high = None
    if left.maximum is not None and right.maximum is not None:
        high = left.maximum + right.maximum
    return replace(left, minimum=left.minimum + right.minimum, maximum=high)
