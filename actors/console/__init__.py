"""The console: a chat client for the terminal, attached to the running system.

- `view`: everything that is shown, as one value, and how events change it; pure.
- `render`: that value as rich renderables; pure.
- `commands`: the table of slash commands.
- `link`: threads that follow the session and the supervisor.
- `screen`, `plain`: the edges, with a terminal and without.
"""
