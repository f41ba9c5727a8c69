"""The model as a service: tokenising, counting, generating under a grammar, keeping KV state.

`engine` and what it's made of know nothing of messages or sockets; `actor` puts them on the bus.
"""

import os

# As erisd sets it, for benchmarks and tests without one: threads that spin while they wait starve
# everybody on a small machine, themselves included (beside two busy processes an answer took 69
# seconds instead of 4). It's read when libgomp is loaded, so it must be set before llama.cpp is.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")
