"""Jobs as one file: a zip archive with checksums to give to others, and opening such a file as that of a stranger."""
