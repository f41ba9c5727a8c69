"""Sets of Unicode scalar values as sorted, disjoint, inclusive ranges.

Surrogates are in no set: neither UTF-8 nor a valid JSON string can hold one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

_SURROGATES = (0xD800, 0xDFFF)
_LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class CharSet:
    """An immutable set of characters."""

    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> "CharSet":
        """Build from ranges in any order, overlapping or not."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted(_scalars(ranges)):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    @classmethod
    def chars(cls, text: str) -> "CharSet":
        """Build from the characters of a text."""
        return _of_chars(text)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, code: int) -> bool:
        return any(first <= code <= last for first, last in self.ranges)

    def __or__(self, other: "CharSet") -> "CharSet":
        return CharSet.of((*self.ranges, *other.ranges))

    def __invert__(self) -> "CharSet":
        gaps: list[tuple[int, int]] = []
        position = 0
        for first, last in self.ranges:
            if position < first:
                gaps.append((position, first - 1))
            position = last + 1
        if position <= _LAST:
            gaps.append((position, _LAST))
        return CharSet.of(gaps)

    def __and__(self, other: "CharSet") -> "CharSet":
        common: list[tuple[int, int]] = []
        mine, theirs = iter(self.ranges), iter(other.ranges)
        left, right = next(mine, None), next(theirs, None)
        while left and right:
            first, last = max(left[0], right[0]), min(left[1], right[1])
            if first <= last:
                common.append((first, last))
            if left[1] < right[1]:
                left = next(mine, None)
            else:
                right = next(theirs, None)
        return CharSet(tuple(common))

    def __sub__(self, other: "CharSet") -> "CharSet":
        return self & ~other


@lru_cache(maxsize=4_096)
def _of_chars(text: str) -> CharSet:
    return CharSet.of((ord(char), ord(char)) for char in text)


def _scalars(ranges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    low, high = _SURROGATES
    for first, last in ranges:
        if first < low:
            yield first, min(last, low - 1)
        if last > high:
            yield max(first, high + 1), last


_CATEGORIES = {
    "Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Number": "N",
    "Decimal_Number": "Nd", "Punctuation": "P", "Symbol": "S", "Mark": "M", "Separator": "Z",
    "Other": "C", "Control": "Cc",
}  # fmt: skip
_MAJOR = frozenset("CLMNPSZ")
_LONGEST_CATEGORY = 2


@lru_cache(maxsize=32)
def unicode_category(name: str) -> CharSet | None:
    """Give all characters of a general category by its short or long name; None if unknown."""
    short = _CATEGORIES.get(name, name)
    if short[:1] not in _MAJOR or len(short) > _LONGEST_CATEGORY:
        return None
    codes = (code for code in range(_LAST + 1) if category(chr(code)).startswith(short))
    return CharSet.of((code, code) for code in codes) or None


EVERYTHING = CharSet.of([(0, _LAST)])
DIGITS = CharSet.of([(0x30, 0x39)])
WORD = CharSet.of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACE = CharSet.chars(
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
LINE_ENDS = CharSet.chars("\n\r\u2028\u2029")
