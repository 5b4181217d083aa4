// The loop of a session as one picture: five cards joined by arrows, and the way back. Text goes in by textContent only.
// data: {label, back, cards: [{title, caption, figure: {kind, ...}}]}
//   kind "bars":  {values: [0..1], before: [0..1] | null, labels: [text], top: 0..1 | null}     kind "line": {values: [number]}
//   kind "stack": {parts: [{share: 0..1, color, label}]}                      kind "quote": {text}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

function canvas(width, height) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "figure", "aria-hidden": "true", preserveAspectRatio: "none" });
}

function bars({ values, before, labels, top: given }) {
  const box = node("div", "bars");
  const top = given ?? Math.max(...values, 0.01);
  values.forEach((value, i) => {
    const column = node("div", "column");
    const plot = node("div", "plot");
    for (const [kind, height] of [["before", before?.[i]], ["after", value]]) {
      if (height === undefined) continue;
      const bar = node("span", `bar ${kind}`);
      bar.style.height = `${Math.max(2, (100 * height) / top)}%`;
      plot.append(bar);
    }
    column.append(plot, node("span", "tick", labels[i]));
    box.append(column);
  });
  return box;
}

function line({ values }) {
  const svg = canvas(100, 44);
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  const points = values.map((value, i) => [(100 * i) / Math.max(values.length - 1, 1), 40 - (36 * (value - low)) / span]);
  const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  svg.append(shape("polygon", { points: `0,44 ${path} 100,44`, class: "area" }));
  svg.append(shape("polyline", { points: path, class: "curve", "vector-effect": "non-scaling-stroke" }));
  return svg;
}

function stack({ parts }) {
  const box = node("div", "stack");
  for (const part of parts) {
    const row = node("div", "part");
    const track = node("span", "track");
    const fill = node("span", "fill");
    fill.style.width = `${100 * part.share}%`;
    fill.style.background = part.color;
    track.append(fill);
    row.append(node("span", "name", part.label), track, node("span", "share", `${Math.round(100 * part.share)} %`));
    box.append(row);
  }
  return box;
}

const quote = ({ text }) => node("blockquote", "quote", text);
const FIGURES = { bars, line, stack, quote };

function card(content, number) {
  const made = node("section", "card");
  const head = node("header", "");
  head.append(node("span", "number", String(number)), node("h3", "", content.title));
  made.append(head, FIGURES[content.figure.kind](content.figure), node("p", "caption", content.caption));
  return made;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".loop");
  root.setAttribute("aria-label", data.label);
  const row = node("div", "row");
  data.cards.forEach((content, i) => row.append(card(content, i + 1)));
  const back = node("div", "back");
  back.append(node("span", "pulse"), node("span", "words", data.back));
  root.replaceChildren(row, back);
}
