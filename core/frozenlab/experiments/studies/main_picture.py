"""The main figure as SVG, in the paper's shape: a panel for each team, the rate by map size, a line for each arm with its band."""

from __future__ import annotations

from frozenlab.base.cells import in_order
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable
from frozenlab.experiments.studies.pictures import joined, line, path, percent, svg, text

COLORS = ((36, 132, 198), (224, 102, 43), (74, 151, 95), (150, 98, 178), (138, 157, 179), (201, 162, 39))
"""Middle tones that are readable in both themes, one for each arm in turn."""
WIDTH, HEIGHT, TOP, LEFT = 270, 210, 46, 40
"""Of a panel: its size, and the room for its title and its axis."""


def main_picture(table: MainTable, measure: Measure) -> str:
    """The rates of one measure with 95 % t intervals over seeds (or students)."""
    groups, arms = table.groups, table.arms
    rates = table.of(measure, None) or table.of(measure)
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
            band = [at(one.place, one.high) for one in points if one.high is not None]
            band += [at(one.place, one.low) for one in reversed(points) if one.low is not None]
            drawn += [f'<polygon points="{joined(band)}" fill="rgb{color}" fill-opacity="0.15"/>'] if band else []
            drawn.append(path([at(one.place, one.mean) for one in points], color, 2))
            drawn += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="rgb{color}"/>' for one in points for x, y in [at(one.place, one.mean)]
            ]
        parts.append(f'<g transform="translate({number * WIDTH} 20)">{"".join(drawn)}</g>')
    if len(table.columns) > 1:
        parts.append(text(LEFT, HEIGHT + 16, table.columns[1], 11))
    said = "; ".join(f"{one.arm}, {one.group} {table.columns[0]}: {percent(one.mean)}" for one in table.of(measure))
    return svg(
        max(len(groups) * WIDTH, LEFT + 150 * len(arms)), HEIGHT + 22, f"{measure.capitalize()} rate on {table.suite}. {said}.", parts
    )
