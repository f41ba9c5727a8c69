"""One package for each process. An actor imports `eris` and `proto`, never another actor."""
