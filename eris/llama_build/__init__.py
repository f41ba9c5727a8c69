"""llama-cpp-python, built for the processor that is here.

The registry has its source only, and a build with the default flags can die of SIGILL on virtual
machines: the processor advertises instructions (AMX) that trap when they're used. So Eris chooses
the flags itself, tries every wheel in a process of its own before it's installed, and keeps the
wheels in the user's cache folder, so that the minutes of a build are paid once for each machine.

Standard library only: this must run before anything else is installed, and when what is installed
is broken. ``python -m eris.llama_build`` builds and installs what fits; it does nothing if that's
there already.
"""

from eris.llama_build.processor import Processor, flag_sets, present_processor
from eris.llama_build.trial import Trial, try_installed
from eris.llama_build.wheels import Build, BuildError, ensure, installed_version, key

__all__ = [
    "Build",
    "BuildError",
    "Processor",
    "Trial",
    "ensure",
    "flag_sets",
    "installed_version",
    "key",
    "present_processor",
    "try_installed",
]
