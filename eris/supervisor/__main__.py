"""``python -m eris.supervisor`` is `erisd`."""

from eris.supervisor.main import main

if __name__ == "__main__":
    main()
