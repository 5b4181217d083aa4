"""FrozenLab's entry point: ``streamlit run streamlit_app.py`` or ``frozenlab app``."""

from core.ui import nav, theme

theme.frame()
nav.build().run()
