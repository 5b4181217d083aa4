"""The pages of the door: plain HTML without scripts, which load nothing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from frozenlab.app.ui.door.accounts import Account
from frozenlab.app.ui.theme import DARK, LIGHT, Palette
from frozenlab.base.places import ASSETS
from frozenlab.base.roles import Role

ICON = (ASSETS / "icon.svg").read_text(encoding="utf-8")
MAY = {
    Role.VIEWER: "You can look at everything, play, and take the course. You cannot start, stop or delete anything.",
    Role.OPERATOR: "You can do everything: start, stop and delete too.",
}
"""What each role may do, in the words of the door."""


def colours(palette: Palette) -> str:
    names = ("ground", "surface", "line", "text", "muted", "accent", "on_accent")
    return "".join(f"--{name.replace('_', '-')}:{getattr(palette, name)};" for name in names)


STYLE = f"""
:root{{color-scheme:light dark;{colours(LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{colours(DARK)}}}}}
*{{box-sizing:border-box}}
body{{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:1.5rem;background:var(--ground);color:var(--text);
 font:1rem/1.5 "Source Sans","Source Sans Pro","Segoe UI","Helvetica Neue",Arial,sans-serif}}
main{{width:100%;max-width:26rem;padding:2rem;background:var(--surface);border:1px solid var(--line);border-radius:14px}}
header{{display:flex;align-items:center;gap:.75rem;margin-bottom:1.25rem}}
header svg{{width:40px;height:40px;flex:none}}
h1{{margin:0;font-size:1.5rem;font-weight:650;letter-spacing:-.01em}}
h1 span{{font-weight:400;color:var(--muted)}}
p{{margin:0 0 1rem}}
.note{{margin:1.25rem 0 0;color:var(--muted);font-size:.95rem}}
.wrong{{padding:.6rem .8rem;border-left:4px solid var(--accent);background:var(--ground);border-radius:6px}}
label{{display:block;font-weight:600;margin-bottom:.35rem}}
input,button,.button{{width:100%;font:inherit;border-radius:10px;padding:.65rem .8rem;border:1px solid var(--muted)}}
input{{background:var(--ground);color:var(--text);margin-bottom:.9rem}}
button,.button{{display:block;text-align:center;text-decoration:none;cursor:pointer;font-weight:600;color:var(--text);background:var(--ground)}}
.first{{background:var(--accent);color:var(--on-accent);border-color:var(--accent)}}
form+form,form+.button,.button+form,form+.other{{margin-top:.75rem}}
.other{{display:grid;gap:.75rem}}
:focus-visible{{outline:3px solid var(--accent);outline-offset:2px}}
button:hover,.button:hover{{filter:brightness(1.06)}}
"""
POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of these pages."""


def closed(door: str, to: str, wrong: str = "", accounts: Sequence[Account] = (), passwords: bool = True) -> str:
    """The page that asks who comes.

    Args:
        door: address of the door, which the form is sent to.
        to: where somebody goes who came in.
        wrong: why they were not let in.
        passwords: whether there are any.
    """
    who = "who have a link to it or know a password" if passwords else "whose account is on its list"
    parts = [f"<p>This lab is open to people {who}{', or whose account is on its list' if passwords and accounts else ''}.</p>"]
    if wrong:
        parts.append(f'<p class="wrong" role="alert">{escape(wrong)}</p>')
    if passwords:
        parts.append(
            f'<form method="post" action="{escape(door)}"><input type="hidden" name="to" value="{escape(to)}">'
            '<label for="password">Password</label>'
            '<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200" autofocus>'
            '<button class="first">Come in</button></form>'
        )
    if accounts:
        buttons = "".join(
            f'<a class="button{"" if passwords else " first"}" href="{escape(one.address)}">{escape(one.label)}</a>' for one in accounts
        )
        parts.append(f'<div class="other">{buttons}</div>')
    parts.append(f'<p class="note">{"No link and no password?" if passwords else "Not on the list?"} Ask whoever runs this lab.</p>')
    return page("".join(parts))


def inside(role: Role, leave: str, home: str) -> str:
    """The page for somebody who is in: as what, and the way out."""
    return page(
        f"<p>You are here as <b>{role}</b>. {MAY[role]}</p>"
        f'<a class="button first" href="{escape(home)}">Go to the lab</a>'
        f'<form method="post" action="{escape(leave)}"><button>Log out</button></form>'
    )


def left(on: str) -> str:
    """The page for somebody who has logged out of an account here; ``on`` is where the provider hears of it."""
    return page(f'<p>You have logged out of this lab.</p><a class="button first" href="{escape(on)}">Log out of the account too</a>')


def refused(why: str, door: str) -> str:
    """The page that only says why not."""
    return page(f'<p class="wrong" role="alert">{escape(why)}</p><a class="button first" href="{escape(door)}">To the door</a>')


def page(body: str) -> str:
    icon = b64encode(ICON.encode()).decode()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>FrozenLab</title><link rel="icon" href="data:image/svg+xml;base64,{icon}"><style>{STYLE}</style></head>'
        f"<body><main><header>{ICON}<h1>Frozen<span>Lab</span></h1></header>{body}</main></body></html>"
    )
