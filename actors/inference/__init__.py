"""The model as a service: tokenising, counting, generating under a grammar, keeping KV state.

`engine` and what it's made of know nothing of messages or sockets; `actor` puts them on the bus.
"""
