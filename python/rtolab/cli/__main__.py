"""`python -m rtolab.cli`."""

from rtolab.cli import main

main()
