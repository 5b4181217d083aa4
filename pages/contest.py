"""Beat the engineer: write the next config better than the engineer does."""

from frozenlab.contests.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
