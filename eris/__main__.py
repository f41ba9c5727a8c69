"""``python -m eris`` is the command `eris`."""

from eris.cli.main import main

if __name__ == "__main__":
    main()
