"""The contract between Eris's processes: message structures and nothing else.

One module per actor, plus the header (`envelope`), the messages every process handles
(`control`), error bodies (`errors`) and the table of rights (`rights`). Nothing here performs I/O
and nothing here imports the rest of Eris, so that the contract can be read, and implemented in
another language, on its own.
"""
