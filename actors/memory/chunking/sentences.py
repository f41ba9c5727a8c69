"""Where a sentence ends, told from its marks alone: in Latin, Greek and Cyrillic script, and CJK.

It's cautious: what may be an abbreviation, an initial or an ordinal (`3. Mai`) ends no sentence.
"""

import re
from collections.abc import Iterator

_END = re.compile(
    r"(?P<mark>[.!?…]++)[\"'”’»)\]*_]*+\s++(?=(?P<next>\S))|[。！？｡]++[」』）”’]*+\s*+"  # noqa: RUF001
)
_WORD = re.compile(r"[^\s(\[\"'“„«]*\Z")
_LONGEST_WORD = 24
_ABBREVIATION = re.compile(
    "mr|mrs|ms|dr|prof|st|no|nr|vs|etc|e\\.g|i\\.e|cf|al|fig|vol|pp|p|ca|approx|inc|ltd|jr|sr|"
    "z\\.b|d\\.h|u\\.a|bzw|usw|ggf|evtl|vgl|str|abs|bd|hr|fr|dipl|mio|mrd|tel|"
    "p\\.ex|env|mm|mme|sig|sra|av|núm|pág|т\\.е|т\\.д|т\\.п|им",  # noqa: RUF001
    re.IGNORECASE,
)


def sentence_starts(text: str, start: int, end: int) -> Iterator[int]:
    """Give the positions in a part of a text at which a sentence begins, but for the first one."""
    for found in _END.finditer(text, start, end):
        if found.end() < end and not (found["mark"] and _goes_on(text, found)):
            yield found.end()


def _goes_on(text: str, found: re.Match[str]) -> bool:
    """Whether the sentence goes on after what may be its end."""
    if found["next"].islower():
        return True
    if found["mark"] != ".":
        return False
    before = _WORD.search(text[max(0, found.start() - _LONGEST_WORD) : found.start()])
    word = before[0] if before else ""
    return (
        word.isdigit() or (len(word) == 1 and word.isalpha()) or bool(_ABBREVIATION.fullmatch(word))
    )
