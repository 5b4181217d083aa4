"""Studies: what makes a good engineer?"""

from frozenlab.studies.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
