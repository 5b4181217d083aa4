"""Studies: what makes a good engineer?"""

from frozenlab.app.studies.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
