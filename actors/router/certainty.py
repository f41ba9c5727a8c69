"""How certain it is that a tool is wanted, from how similar the best one is to what was said.

A small model can't tell: under a grammar it calls one of the functions on offer even when none
fits, and where it must say something first it claims to have done what it didn't do. Its own odds
between a call and none say next to nothing (area under the curve 0.57 on 48 questions, against
0.91 for the similarity; weighed together 0.91). So the similarity decides: `docs/evaluation.md`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from proto.router import Hit


@dataclass(frozen=True)
class Calibration:
    """Log-odds that a tool is wanted, as a line over the similarity of the best tool.

    Attributes:
        slope: Of the line.
        middle: Similarity at which a tool is as likely to be wanted as not.
    """

    slope: float
    middle: float

    def odds(self, score: float) -> float:
        """Return the log-odds, for wanted and unwanted being equally frequent."""
        return self.slope * (score - self.middle)


CALIBRATIONS = {"minilm-l6-v2-int8": Calibration(slope=8.2, middle=0.43)}
"""By embedder: logistic regression on the similarity between request and description, over the
tuning half of the Berkeley Function Calling Leaderboard's questions (162 with a fitting function,
50 without; both weighing the same). The other half gives 7.9 and 0.44."""


def call_odds(embedder: str, hits: Sequence[Hit]) -> float:
    """Return the log-odds that one of these tools is wanted; 0 where nothing is known."""
    line = CALIBRATIONS.get(embedder)
    return round(line.odds(max(hit.score for hit in hits)), 3) if line and hits else 0.0


def is_evident(hits: Sequence[Hit], reading: Collection[str], surely: float) -> bool:
    """Tell whether the model has to call one of these tools before it says anything.

    Reading what nobody asked for costs a second, saying what wasn't looked up is a lie: so tools
    that only read are always called where they are offered. One that changes something has to be
    surely meant, or the model decides.

    Args:
        hits: The tools that are offered.
        reading: Tools that only read.
        surely: Score from which on any tool is surely meant.
    """
    reads = bool(hits) and all(hit.tool in reading for hit in hits)
    return reads or any(hit.score >= surely for hit in hits)
