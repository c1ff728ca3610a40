"""`python -m vwkde.cli`."""

from vwkde.cli.main import main

main()
