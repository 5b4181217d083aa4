"""The scripts that pages run by ``st.html``. The server lets a browser run these and no other ones that stand in a page."""

TO_THE_TOP = """document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0)"""
"""Whoever comes from far down a page begins at its top."""

INLINE = (TO_THE_TOP,)
