"""The scripts that pages run by ``st.html``. Browsers run no other inline scripts of a page."""

TO_THE_TOP = """document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0)"""
"""Scrolls to the top, for readers who come from far down another page."""

INLINE = (TO_THE_TOP,)
