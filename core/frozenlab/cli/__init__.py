"""``frozenlab``: everything the app does, without a browser. One file for each group of commands; :mod:`frozenlab.cli.main` lists them."""
