"""`python -m vwkde`."""

from vwkde.cli.entry import main

if __name__ == "__main__":  # not in the processes that a server starts
    main()
