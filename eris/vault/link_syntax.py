"""How a target is spelt inside a link: percent-encoding, and what a wiki link can't hold."""

import re
from urllib.parse import quote

# Nobody reads these as the end of a destination, a scheme, a comment, code, math or a table's cell.
_ENCODED = re.compile(r"[\x00-\x1f\x7f%#?<>\\:`\[\]|$\u00a0\u2028\u2029]|&(?=#?\w+;)|^\s|\s$")
_SPACES = re.compile(r"[ \u3000]")
_UNWRITABLE = re.compile(r"[\[\]#|^`\\\x00-\x1f]|%%|^\s|\s$")
_ANCHOR_ENDS = re.compile(r"[\[\]|\\\x00-\x1f]+|%%")


def fits_wiki_link(target: str) -> bool:
    """Whether `[[target]]` means this target: it has nothing that ends it or starts an anchor."""
    return not _UNWRITABLE.search(target)


def wiki_anchor(anchor: str) -> str:
    """Return an anchor without what would end the link, which doesn't count in headings."""
    return re.sub(r"\s+", " ", _ANCHOR_ENDS.sub(" ", anchor)).strip()


def destination(target: str, anchor: str = "", *, bracketed: bool = False) -> str:
    """Return the destination of a Markdown link.

    Args:
        target: A path or name; empty for the note itself.
        anchor: Without its first `#`.
        bracketed: Whether it stands between `<` and `>`, where spaces need no encoding.
    """
    text = _encoded(target, bracketed=bracketed)
    if anchor:
        parts = anchor.split("#")
        text += "".join(f"#{_encoded(part, bracketed=bracketed)}" for part in parts)
    return text


def fully_encoded(target: str) -> str:
    """Return a path in which every letter outside of ASCII is percent-encoded, too."""
    return quote(target, safe="/!'()*,;=@~+&")


def _encoded(text: str, *, bracketed: bool) -> str:
    encoded = _ENCODED.sub(lambda match: quote(match[0], safe=""), text)
    if bracketed:
        return encoded
    encoded = _SPACES.sub(lambda match: quote(match[0]), encoded)
    if not _balanced(encoded):
        encoded = encoded.replace("(", "%28").replace(")", "%29")
    return encoded


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def wiki_shown(text: str, *, in_table: bool) -> str:
    """Return text to show that doesn't end a wiki link; in a table its `|` is escaped."""
    text = re.sub(r"\s+", " ", text).strip().replace("]]", "] ]")
    text = f"{text} " if text.endswith("]") else text
    return re.sub(r"(?<!\\)\|", r"\\|", text) if in_table else text


def markdown_shown(text: str, *, in_table: bool) -> str:
    """Return text to show in the brackets of a Markdown link."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?<!\\)([\[\]])", r"\\\1", text)
    return re.sub(r"(?<!\\)\|", r"\\|", text) if in_table else text
