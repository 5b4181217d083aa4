"""Beat the engineer: write the next config better than the engineer does."""

from frozenlab.app.contests.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
