"""How large a bundle and its parts may be. Export keeps to the same limits as import."""

from __future__ import annotations

MB = 2**20
ARCHIVE = 2000 * MB
"""Bytes of a bundle, which has no need of the large form of zip archives (zip64) then."""
ENTRIES = 20_000
UNPACKED = 4000 * MB
"""Bytes of all files together, unpacked."""
SIZES = {"json": 16 * MB, "lines": 32 * MB, "table": 256 * MB, "arrays": 256 * MB, "weights": 1900 * MB, "text": 4 * MB}
"""Bytes of one file by its format, unpacked."""
MANIFEST = 8 * MB
NAME = 240
"""Letters of an entry's name."""
RATIO, RATIO_FROM = 200, MB
"""How many times its packed size a file may have if it is larger than so many bytes. What FrozenLab writes is packed 30 times at most."""

NESTED, VALUES = 60, 1_000_000
"""Brackets within each other, and values (counted generously), in one JSON file."""
LINES = 200_000
"""Of a file of JSON lines."""
ROWS, COLUMNS, FOOTER, IN_MEMORY = 2_000_000, 300, 16 * MB, 512 * MB
"""Of a table: its rows, its columns, bytes of its description, and bytes of its columns in memory; the last for arrays too."""
HEADER = 16 * MB
"""Bytes of the description of weights."""
