"""The process that reads one document: `python -m actors.memory.extracting TASK`.

Documents come from everywhere, and what parses them is large and written in C. So that happens in
a process of its own, with little memory, no network, no other process and nothing it could write
to: a broken file ends this process and not the actor. The file is standard input, opened by the
actor; what it says goes to standard output, a line of JSON per page, while it's being read.

It's started for every document, so it imports no more than it needs.
"""
