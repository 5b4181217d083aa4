"""The pictures of a study's report as self-contained SVG, and what the plots of the Studies page share with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from math import ceil, floor, isnan

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import MANY, interval, percent, points, signed
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable
from frozenlab.experiments.studies.statistics import Effect
from frozenlab.experiments.studies.tables import CellRow, Curve, EffectRow
from frozenlab.tasks.families import cell_label

BLUE, ORANGE, GREY = (36, 132, 198), (224, 102, 43), (123, 142, 165)
"""Middle tones that are readable in both themes and distinguishable for colour-blind readers."""
SMALLEST_REACH = 0.05
"""Smallest change that may have the full colour of a map of differences."""
ACROSS = 4
"""Largest number of panels per row."""
COLORS = (BLUE, ORANGE, (30, 158, 119), (179, 95, 196), (168, 130, 10), GREY)
"""One for each arm in turn, as in the figures of the app."""
HALO = ' style="paint-order: stroke; stroke: var(--fl-ground, #fcfdff); stroke-width: 4px"'
"""Of a number that lies on a line."""
NARROW, PHONE = 500, 380
"""Pixels of a picture that a phone can show whole: fewer than, and of one that is made for it."""
WIDTH, HEIGHT, TOP, LEFT = 270, 210, 46, 40
"""Of a panel: its size, and the room for its title and its axis."""


def shade(change: float, reach: float) -> str:
    """A CSS colour: blue for more, orange for less, more transparent near 0, so that it fades into any background."""
    red, green, blue = BLUE if change > 0 else ORANGE
    return f"rgba({red}, {green}, {blue}, {0.75 * min(abs(change) / reach, 1):.3f})"


def reach_of(rows: tuple[CellRow, ...]) -> float:
    """The change that gets the full colour."""
    return max(SMALLEST_REACH, *(abs(row.mean) for row in rows))


def range_of(curves: tuple[Curve, ...]) -> tuple[float, float]:
    """The range of the drawn rates, with a margin."""
    drawn = [rate for curve in curves for point in curve.points for rate in (*point.by_unit.values(), *point.band)]
    room = 0.06 * max(0.02, max(drawn) - min(drawn))
    return min(drawn) - room, max(drawn) + room


def in_rows(panels: int, most: int) -> int:
    """Number of panels per row, at most ``most``, so that no row is much shorter than the others."""
    return ceil(panels / ceil(panels / most))


def moment(trained: int) -> str:
    """``before training``, ``after stage 1``."""
    return f"after stage {trained}" if trained else "before training"


def between(low: float, high: float) -> str:
    """An interval of a change, in points."""
    return "no interval, as the seeds show no spread" if isnan(low) or low == high else interval(low, high, MANY)


def curves_in_words(curves: tuple[Curve, ...]) -> str:
    lines = (
        f"{curve.arm}: " + ", ".join(f"{percent(point.mean, MANY)} {moment(point.trained)}" for point in curve.points) for curve in curves
    )
    return "; ".join(lines)


def sizes_in_words(rows: tuple[CellRow, ...]) -> str:
    """Every number of the map with its interval, as text."""
    listed = "; ".join(f"{row.name}, {cell_label(row.cell)}: {points(row.mean, MANY)} ({between(row.low, row.high)})" for row in rows)
    return f"{listed}. {clear_in_words(rows)}"


def clear_in_words(rows: tuple[CellRow, ...]) -> str:
    """How many of the map's differences are clear of chance, as a sentence."""
    clear = [f"{row.name} on {cell_label(row.cell)}" for row in rows if row.clear]
    which = f"clear of chance are {', '.join(clear)}" if clear else "none is clear of chance"
    return f"These are {len(rows)} comparisons; after Holm's correction for all of them {which}."


# --- SVG -------------------------------------------------------------------------------------------------------------


def svg(width: float, height: float, label: str, parts: list[str]) -> str:
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" style="--width: {width:.0f}px"'
    return f'<svg {size} role="img" aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'


def standalone(picture: str, color: str, ground: str = "none") -> str:
    """A picture as a file of its own, with the CSS colours of its words and of what is behind them."""
    own = f'xmlns="http://www.w3.org/2000/svg" fill="{color}" color="{color}" font-family="sans-serif" style="background: {ground}"'
    return picture.replace("<svg ", f"<svg {own} ", 1)


def text(x: float, y: float, words: str, size: int = 13, anchor: str = "start", style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{style}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, color: tuple[int, int, int], width: float) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" stroke="rgb{color}" stroke-width="{width}"/>'


def dot(x: float, y: float, color: tuple[int, int, int], radius: float, style: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="rgb{color}"{style}/>'


def path(places: list[tuple[float, float]], color: tuple[int, int, int], width: float) -> str:
    return f'<polyline points="{joined(places)}" fill="none" stroke="rgb{color}" stroke-width="{width}" stroke-linejoin="round"/>'


def joined(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def effects_picture(effects: tuple[EffectRow, ...]) -> str:
    """Each effect as a dot with its interval over seeds, in points, around a line at 0."""
    bounds = [bound for row in effects for bound in (row.low, row.high, row.mean) if not isnan(bound)]
    reach, bottom = max(0.01, *(abs(bound) for bound in bounds)), 30 * len(effects) + 6

    def x(change: float) -> float:
        return 520 + 270 * change / reach

    parts = [line(520, 4, 520, bottom, GREY, 1.5)]
    for place, row in enumerate(effects):
        y = 22 + 30 * place
        parts.append(text(0, y + 5, row.name, 15))
        if not isnan(row.low):
            parts.append(line(x(row.low), y, x(row.high), y, BLUE if row.clear else GREY, 3))
        fill = f"rgb{BLUE}" if row.clear else "#fcfdff"
        parts.append(
            f'<circle cx="{x(row.mean):.1f}" cy="{y}" r="6" fill="{fill}" stroke="rgb{BLUE if row.clear else GREY}" stroke-width="2"/>'
        )
    parts += [text(x(end), bottom + 18, f"{points(end, MANY)}", anchor="middle") for end in (-reach, reach)]
    label = "; ".join(f"{row.name} {points(row.mean, MANY)} ({between(row.low, row.high)})" for row in effects)
    return svg(840, bottom + 26, label, parts)


def curves_picture(curves: tuple[Curve, ...]) -> str:
    """One panel per arm: thin lines are seeds or students, the band is the 95 % t interval of their mean, the grey line is the mean of the
    reference arm."""
    low, high = range_of(curves)
    across, stages = in_rows(len(curves), ACROSS), max(1, max(point.trained for curve in curves for point in curve.points))
    width, height, inner = 840 / across, 170, 840 / across - 70

    def at(trained: float, rate: float) -> tuple[float, float]:
        return 44 + inner * trained / stages, 34 + 96 * (high - rate) / (high - low)

    frame = [text(at(trained, low)[0], 146, str(trained), 11, "middle") for trained in range(stages + 1)]
    for rate in (ceil(100 * low) / 100, floor(100 * high) / 100):
        x, y = at(0, rate)
        frame += [line(x, y, x + inner, y, (207, 219, 230), 1), text(x - 6, y + 4, percent(rate), 11, "end")]
    parts = []
    for number, curve in enumerate(curves):
        ends = [(point.trained, *point.band) for point in curve.points]
        outline = [at(trained, top) for trained, _, top in ends] + [at(trained, bottom) for trained, bottom, _ in reversed(ends)]
        drawn = [
            text(6, 20, curve.arm, 12, style=' font-weight="600"'),
            *frame,
            f'<polygon points="{joined(outline)}" fill="rgba({BLUE[0]}, {BLUE[1]}, {BLUE[2]}, 0.18)"/>',
            *(path([at(*point) for point in points], BLUE, 0.4) for points in curve.lines.values()),
            path([at(point.trained, point.mean) for point in curves[0].points], GREY, 4),
            path([at(point.trained, point.mean) for point in curve.points], BLUE, 2),
        ]
        row, column = divmod(number, across)
        parts.append(f'<g transform="translate({column * width:.1f} {row * height})">{"".join(drawn)}</g>')
    rows = -(-len(curves) // across)
    parts.append(text(44, rows * height, "stages trained", 11))
    return svg(840, rows * height + 8, curves_in_words(curves), parts)


def sizes_picture(rows: tuple[CellRow, ...]) -> str:
    """Each difference as a number on its colour. Those clear of chance have a frame and are bold."""
    names, cells, reach = list(dict.fromkeys(row.name for row in rows)), in_order(row.cell for row in rows), reach_of(rows)
    width = min(100.0, 640 / len(cells))
    parts = [text(200 + width * (place + 0.5), 18, cell_label(cell), anchor="middle") for place, cell in enumerate(cells)]
    parts += [text(0, 49 + 36 * place, name, 15) for place, name in enumerate(names)]
    for row in rows:
        x, y = 200 + width * cells.index(row.cell), 28 + 36 * names.index(row.name)
        frame = ' stroke="#0b1f33" stroke-width="2"' if row.clear else ""
        parts.append(
            f"<g><title>{escape(between(row.low, row.high))}</title>"
            f'<rect x="{x + 2:.1f}" y="{y}" width="{width - 4:.1f}" height="32" rx="4" fill="{shade(row.mean, reach)}"{frame}/>'
            + text(x + width / 2, y + 21, signed(row.mean, MANY), 14, "middle", ' font-weight="700"' if row.clear else "")
            + "</g>"
        )
    return svg(840, 36 * len(names) + 34, sizes_in_words(rows), parts)


def lines_picture(columns: Sequence[str], lines: Mapping[str, Sequence[Effect | None]], marked: Collection[str] = ()) -> str:
    """Changes in points over columns of conditions, a line a name: small dots are students, large ones their means with 95 % intervals.

    Args:
        lines: name -> its effect in each column; None where it has none.
        marked: the names that readers look for.
    """
    names = sorted(lines, key=lambda name: -next(effect.mean for effect in reversed(lines[name]) if effect))
    (low, high), across, tall = ends_of(lines), 560 / len(columns), 340

    def at(column: int, name: str, value: float) -> tuple[float, float]:
        slot = (names.index(name) + 1) / (len(names) + 1)
        return 60 + across * (column + 0.1 + 0.8 * slot), 34 + tall * (high - value) / (high - low)

    def color(name: str) -> tuple[int, int, int]:
        return ORANGE if name in marked else COLORS[names.index(name) % len(COLORS)] if not marked else GREY

    parts = [text(60 + across * (place + 0.5), 18, column, 15, "middle", ' font-weight="600"') for place, column in enumerate(columns)]
    parts.append(text(52, 18, "points", 12, "end"))
    step = next((step for step in (0.01, 0.02) if high - low <= 6 * step), 0.05)
    for tick in range(ceil(low / step), floor(high / step) + 1):
        y = at(0, names[0], tick * step)[1]
        parts += [line(60, y, 620, y, GREY, 0.4 if tick else 1.6), text(52, y + 5, signed(tick * step), 12, "end")]
    free = 34.0
    for name in names:
        there = [(column, effect) for column, effect in enumerate(lines[name]) if effect]
        parts.append(path([at(column, name, effect.mean) for column, effect in there], color(name), 2))
        for column, effect in there:
            x, y = at(column, name, effect.mean)
            parts += [dot(*at(column, name, own.mean), color(name), 2.5, ' fill-opacity="0.4"') for own in effect.students]
            if not isnan(effect.low):
                parts.append(line(x, at(column, name, effect.low)[1], x, at(column, name, effect.high)[1], color(name), 3))
            parts.append(dot(x, y, color(name), 6))
        place, last = there[-1]
        (x, y), words = at(place, name, last.mean), f"{name} {points(last.mean, MANY)}"
        free = max(free, y)
        ink = f' style="fill: color-mix(in srgb, rgb{color(name)} 60%, currentColor)" font-weight="600"'
        parts += [path([(x + 8, y), (632, free)], color(name), 1), text(638, free + 5, words, 14, style=ink)]
        free += 20
    return svg(860, max(tall + 44, free), effects_in_words(columns, {name: lines[name] for name in names}), parts)


def rows_picture(
    columns: Sequence[str], rows: Mapping[str, Sequence[Effect | None]], marked: Collection[str] = (), width: int = 860, *, unit: str
) -> str:
    """Changes in points, a row a name and a panel a condition, all of one scale: small dots are students, large ones their means with
    95 % intervals, blue where those are above 0 and orange where they are below.

    Args:
        rows: name -> its effect in each condition, the name on top first; None where it has none.
        marked: the names that readers look for.
        width: of the picture, in pixels; in a narrow one the names stand above their rows.
        unit: what the scale counts.
    """
    narrow = width < NARROW
    (low, high), left, apart = ends_of(rows), 0 if narrow else 180 if marked else 170, 62 if narrow else 42
    top = 34 if any(columns) else 6
    across, bottom = (width - left) / len(columns), top + 6 + apart * len(rows)

    def at(column: int, value: float) -> float:
        return left + across * column + 12 + (across - 24) * (value - low) / (high - low)

    parts = []
    for column, words in enumerate(columns):
        parts.append(text(left + across * (column + 0.5), 18, words, 15, "middle", ' font-weight="600"'))
        for tick in range(ceil(20 * low), floor(20 * high) + 1):
            x = at(column, tick / 20)
            parts += [line(x, top, x, bottom, GREY, 0.4 if tick else 1.6), text(x, bottom + 16, signed(tick / 20), 13, "middle")]
        parts.append(text(left + across * (column + 0.5), bottom + 36, unit, 13, "middle"))
    for row, (name, effects) in enumerate(rows.items()):
        y = top - 15.0 + apart * (row + 1)
        parts.append(text(0, y + (-28 if narrow else 5), name, 15, style=HALO + ' font-weight="600"' * (name in marked or not marked)))
        for column, effect in enumerate(effects):
            if effect is None:
                continue
            color = BLUE if effect.low > 0 else ORANGE if effect.high < 0 else GREY
            parts += [dot(at(column, own.mean), y, color, 2.5, ' fill-opacity="0.4"') for own in effect.students]
            if not isnan(effect.low):
                parts.append(line(at(column, effect.low), y, at(column, effect.high), y, color, 3))
            parts += [
                dot(at(column, effect.mean), y, color, 6),
                text(at(column, effect.mean), y - 11, signed(effect.mean, MANY), 13, "middle", HALO),
            ]
    return svg(width, bottom + 44, effects_in_words(columns, rows), parts)


def ends_of(lines: Mapping[str, Sequence[Effect | None]]) -> tuple[float, float]:
    """Of the scale of such a picture, which has 0 on it."""
    drawn = [effect for effects in lines.values() for effect in effects if effect]
    reach = [value for effect in drawn for value in (effect.low, effect.high, *(own.mean for own in effect.students)) if not isnan(value)]
    return min([0.0, *reach]), max([0.0, *reach])


def effects_in_words(columns: Sequence[str], lines: Mapping[str, Sequence[Effect | None]]) -> str:
    """What such a picture shows, as text."""
    return "; ".join(
        f"{name}: " + ", ".join(f"{column} {points(effect.mean, MANY)} ({between(effect.low, effect.high)})"
                                for column, effect in zip(columns, effects, strict=True) if effect)
        for name, effects in lines.items()
    )  # fmt: skip


def main_picture(table: MainTable, measure: Measure) -> str:
    """The rates of one measure with 95 % t intervals over seeds (or students)."""
    groups, arms = table.groups, table.arms
    rates = table.shown(measure)
    parts = [
        part
        for number, arm in enumerate(arms)
        for part in (
            line(LEFT + 150 * number, 12, LEFT + 20 + 150 * number, 12, COLORS[number % len(COLORS)], 3),
            text(LEFT + 26 + 150 * number, 16, arm),
        )
    ]
    for number, group in enumerate(groups):
        own = [one for one in rates if one.group == group]
        places = in_order(one.place for one in own)
        inner, drawn = WIDTH - LEFT - 14, [text(LEFT, TOP - 8, f"{group} {table.columns[0]}", 13, style=' font-weight="600"')]

        def at(place: str, rate: float, places: list[str] = places, inner: float = inner) -> tuple[float, float]:
            x = LEFT + inner * (places.index(place) + 0.5) / len(places)
            return x, TOP + 4 + (HEIGHT - TOP - 44) * (1 - rate)

        for rate in (0.0, 0.5, 1.0):
            y = at(places[0], rate)[1]
            drawn += [line(LEFT, y, LEFT + inner, y, (160, 175, 190), 0.6), text(LEFT - 5, y + 4, percent(rate), 10, "end")]
        drawn += [text(at(place, 0)[0], HEIGHT - 22, place, 10, "middle") for place in places]
        for place, arm in enumerate(arms):
            color = COLORS[place % len(COLORS)]
            points = sorted((one for one in own if one.arm == arm), key=lambda one: places.index(one.place))
            band = [at(one.place, one.high) for one in points if not isnan(one.high)]
            band += [at(one.place, one.low) for one in reversed(points) if not isnan(one.low)]
            drawn += [f'<polygon points="{joined(band)}" fill="rgb{color}" fill-opacity="0.15"/>'] if band else []
            drawn.append(path([at(one.place, one.mean) for one in points], color, 2))
            drawn += [dot(*at(one.place, one.mean), color, 3) for one in points]
        parts.append(f'<g transform="translate({number * WIDTH} 20)">{"".join(drawn)}</g>')
    if len(table.columns) > 1:
        parts.append(text(LEFT, HEIGHT + 16, table.columns[1], 11))
    said = "; ".join(f"{one.arm}, {one.group} {table.columns[0]}: {percent(one.mean)}" for one in table.of(measure))
    return svg(
        max(len(groups) * WIDTH, LEFT + 150 * len(arms)), HEIGHT + 22, f"{measure.capitalize()} rate on {table.suite}. {said}.", parts
    )
