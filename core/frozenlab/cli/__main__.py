"""Run the command line with ``python -m frozenlab.cli``."""

import sys

from frozenlab.cli.main import main

sys.exit(main())
