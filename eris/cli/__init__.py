"""The command line `eris`. Everything here is for people at a terminal; it holds no state."""
