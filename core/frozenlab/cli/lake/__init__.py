"""The lake's own commands; :mod:`frozenlab.cli.main` lists them with all others."""
