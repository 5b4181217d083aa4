"""Diagnosis: who finds a planted weakness?"""

from frozenlab.app.diagnosis.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
