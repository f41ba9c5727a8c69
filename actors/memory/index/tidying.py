"""Builds the graph of a folder, as a program: ``python tidying.py FOLDER``.

It's a process of its own because the engine holds Python's lock for as long as it builds: seconds
to minutes in which the memory couldn't even answer that it lives.
"""

import os
import sys

import qdrant_edge as qdrant

_NICENESS = 10


def main(folder: str) -> None:
    """Build graphs, merge segments, write everything down."""
    os.nice(_NICENESS)
    shard = qdrant.EdgeShard.load(folder)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
