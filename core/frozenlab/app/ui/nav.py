"""The pages of the app and their order.

A directory called ``pages`` next to the entry point makes Streamlit run a page file *without* the entry point when the first
request of a fresh server is a deep link. Each page therefore begins with :func:`ensure_nav`, which hands such a request back.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import chain
from typing import Any
from urllib.parse import urlencode, urljoin

import segno
import streamlit as st
from streamlit.navigation.page import StreamlitPage

from frozenlab.app.ui.markup import plain
from frozenlab.app.ui.once import once
from frozenlab.app.ui.refusals import WHY
from frozenlab.base import look_only
from frozenlab.base.errors import LabError, one_line

FAULT = "This is a fault of FrozenLab, not of anything you did. The server's log has the details; please report them."
PAGES = {
    "home": ("Home", "What FrozenLab is, and the sessions on this machine"),
    "learn": ("Learn", "How do many agents find their way at once? A course on live boards, and a contest"),
    "play": ("Play", "How does a model plan on this board, and what is optimal?"),
    "design": ("Design", "What should the model train on?"),
    "train": ("Train", "Start a session and watch it"),
    "runs": ("Runs", "All sessions on this machine: find, name and compare them, and read their stories"),
    "studies": ("Studies", "What makes a good engineer? Ablations, what the engineers wrote, diagnosis, headroom, replays"),
    "benchmark": ("Benchmark", "How good is a checkpoint, compared with others and with the paper?"),
    "classroom": ("Class", "A lesson for a class: its plan, its address, and what each pupil has solved"),
    "contest": ("Contest", "Beat the engineer: whose choice of practice teaches a model more?"),
    "story": ("Story", "What did the model change, and was it right?"),
    "present": ("Present", "A session as a talk, scene by scene over the whole screen"),
    "wrote": ("What they wrote", "The configs that the engineers of a study wrote, side by side"),
    "diagnosis": ("Diagnosis", "Who finds a planted weakness?"),
    "headroom": ("Headroom", "What can be won here? What an engineer could change, measured before one is asked"),
    "replay": ("Replays", "What would others have proposed from the same evidence?"),
    "help": ("Help", "How does the lab work? The loop, the rules of a board, and the words"),
}
"""File name in ``pages/`` -> title and the words shown on hover. Those of the menu come first, in its order."""
TABS = {"studies": "Compare", **{name: PAGES[name][0] for name in ("wrote", "diagnosis", "headroom", "replay")}}
"""Pages that are tabs of Studies -> the name of the tab."""
LEADS_TO = {"home": ("help",), "learn": ("contest", "classroom"), "runs": ("story", "present"), "studies": tuple(TABS)[1:]}
"""Page of the menu -> those that are reached from it, and not listed beside it."""
MENU = [name for name in PAGES if name not in chain.from_iterable(LEADS_TO.values())]
"""The pages that the menu lists."""
CLASS, PUPIL = "class", "_pupil"
"""The entry of an address that a teacher gives to a class, and of the session of those who have come by it."""
FOR_PUPILS = ("learn", "play")
"""The pages that the menu lists for them."""
OF_JOBS = {
    "session": "story",
    "study": "studies",
    "replay": "replay",
    "contest": "contest",
    "diagnosis": "diagnosis",
    "headroom": "headroom",
    "evaluation": "benchmark",
}
"""Kind of a job -> the page that shows it; its id is in the address under the name of the kind."""
WHERE = "background:var(--fl-surface);font-weight:600"
"""The look of the menu's entry that led to a page which it does not list."""
TO_THE_TOP = """document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0)"""
"""Scrolls to the top, for readers who come from far down another page."""
TO_THE_PICTURE = """document.querySelector('.st-key-learn-picture')?.scrollIntoView()"""
"""The same for the picture of a chapter, which opens below what the reader sees."""
QR_SIDE = 12.5
"""Of the picture, in rem."""
DIALOG = "_dialog"
"""Session-state entry: a dialog is open."""
TO_THE_MARK = """document.querySelector('.st-key-learn-mark')?.scrollIntoView({ block: "nearest" })"""
"""The same for what the judge says of an answer, which a phone would show below its screen."""
INLINE = (TO_THE_TOP, TO_THE_PICTURE, TO_THE_MARK)
"""All scripts that pages run by ``st.html``. Browsers run no other inline scripts of a page."""


def path(name: str) -> str:
    """The page ``name`` as ``st.page_link`` and ``st.switch_page`` expect it."""
    return f"pages/{name}.py"


def address(page: str = "", **parts: str) -> str:
    """The address of ``page``, by default this one, with nothing but ``parts`` after it, for people to share; from ``?`` on where it is not
    known."""
    here = (st.context.url or "").split("?")[0]
    return f"{urljoin(here, page) if here else ''}?{urlencode(parts)}"


def show_address(address: str, side: float = QR_SIDE) -> None:
    """An address to copy, and as a QR code of ``side`` rem at most for phones before a screen: dark on white in every theme, which cameras
    read best."""
    st.code(address, language=None, wrap_lines=True)
    try:
        picture = qr_picture(address)
    except segno.DataOverflowError:
        st.caption("The address is too long for a QR code.")
        return
    st.html(f'<img src="{picture}" alt="QR code of the address" style="width:min({side}rem,100%);display:block">')


def qr_picture(address: str) -> str:
    """The QR code of an address, as the address of a picture. Raises segno.DataOverflowError where it is too long for one."""
    return once(lambda: segno.make_qr(address, error="l").svg_data_uri(border=3, dark="#000", light="#fff"), "qr code", address)


def button(label: str, target: str, *, query: Mapping[str, str] | None = None, **look: Any) -> None:
    """A button that leads to the page ``target``. ``look``: of Streamlit's button."""
    if st.button(label, **look):
        st.switch_page(path(target), query_params=query)


def put(name: str, value: str | None) -> None:
    """Keep a value in the address of this page, or take it out for None."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value


def taken(name: str) -> str | None:
    """What the address asks to be done once, which is taken out of it; None if it does not ask."""
    asked = st.query_params.get(name)
    put(name, None)
    return asked


Draw = Callable[..., None]


def dialog(title: str, *, on_dismiss: Callable[[], None] | None = None, **look: Any) -> Callable[[Draw], Draw]:
    """``st.dialog`` for all pages: while one is open, no fragment draws the whole page (:func:`draw_anew`), which would close it. It is
    drawn when the reader has closed the dialog."""

    def decorated(draw: Draw) -> Draw:
        @wraps(draw)
        def drawn(*given: Any) -> None:
            st.session_state[DIALOG] = True
            draw(*given)

        return st.dialog(title, on_dismiss=on_dismiss or "rerun", **look)(drawn)

    return decorated


def in_dialog() -> bool:
    """Whether the page has an open dialog."""
    return DIALOG in st.session_state


def draw_anew() -> None:
    """Draw the whole page, for a fragment that has seen something end or begin; not while a dialog is open."""
    if not in_dialog():
        st.rerun()


def as_page(name: str) -> StreamlitPage:
    title, hint = PAGES[name]
    menu = FOR_PUPILS if st.session_state.get(PUPIL) else MENU
    return st.Page(path(name), title=title, help=hint, default=name == "home", visibility="visible" if name in menu else "hidden")


def tabs() -> None:
    """The row of links between the tabs of Studies."""
    with st.container(key="tabs", horizontal=True):
        for name, title in TABS.items():
            st.page_link(path(name), label=title, help=PAGES[name][1])


def build() -> StreamlitPage:
    """Declare the navigation and return the page of the address."""
    st.session_state["_nav"] = True
    if CLASS in st.query_params:
        st.session_state[PUPIL] = True
    st.session_state.pop(DIALOG, None)  # a run of the whole page closes it
    page = st.navigation([as_page(name) for name in PAGES], position="top")
    for name, inside in LEADS_TO.items():
        if page.url_path in inside:
            st.html(f'<style>[data-testid="stTopNavLink"][href$="/{name}"]{{{WHERE}}}</style>')
    if st.session_state.get("_page") != page.url_path:
        st.session_state["_page"], st.session_state["_arrived"] = page.url_path, True
    return page


def show(page: StreamlitPage) -> None:
    """Run the page. Errors that users can fix are shown as messages, all others as faults of ours, with the traceback in the log."""
    try:
        page.run()
    except Exception as error:
        st.error(plain(fixable(error) or FAULT))
        if not fixable(error):
            raise
    if look_only.on():
        st.html(f'<p class="look-only">{WHY}</p>')


def fixable(error: Exception) -> str:
    """What people can do about an error; empty if it is a fault of ours."""
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.ENOTDIR, errno.ENOSPC, errno.EDQUOT):
        return f"Nothing can be kept there: {one_line(error)}. FROZENLAB_SESSIONS names another folder for sessions."
    return str(error) if isinstance(error, LabError) else ""


def refused(error: Exception) -> bool:
    """Show why a callback or a fragment was refused, which :func:`show` does not see. Returns whether ``error`` is a refusal.

    After a callback that was refused the page does not run, so there is a way back to it.
    """
    if not (why := fixable(error)):
        return False
    st.error(plain(why))
    st.button("Back to the page", key="_back", icon=":material/arrow_back:")
    return True


def arrived() -> bool:
    """Whether the reader has just opened this page, so that its address has to be read. True once per visit.

    While a reader works on a page, a run may still bring an address that the page itself has replaced meanwhile.
    """
    return bool(st.session_state.pop("_arrived", False))


def ensure_nav() -> None:
    """The first line of every page: a run without the entry point is sent through it."""
    if not st.session_state.get("_nav"):
        build()
        st.rerun()
