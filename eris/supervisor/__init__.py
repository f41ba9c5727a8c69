"""The supervisor `erisd`: starts, watches, adopts, restarts and stops the other processes.

- `specification`: what to start, read from ``supervisor.toml``.
- `core`: every decision, as a pure state machine.
- `process`, `lock`, `record`: the operating system's side of a child.
- `control`: the supervisor's own socket and its client.
- `peer`: the supervisor's connection to the bus, over which it pings.
- `daemon`: the loop that ties these together; `main`: the command.
"""
