"""Design: what should the model train on?"""

from frozenlab.app.design.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
