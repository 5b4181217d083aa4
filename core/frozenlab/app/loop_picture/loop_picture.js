// The loop of a session as one picture: five cards joined by arrows, and the way back. Text goes in by textContent only.
// data: {label, back, cards: [{title, caption, figure: {kind, ...} | null, page: {address, name}, if it leads to one}]}
//   kind "bars":  {values: [0..1], before: [0..1] | null, groups: [[text, [text of each bar]]], top: 0..1 | null}
//   kind "line":  {measured: [number], values: [number], low, high, labels: [text of high, of low], ticks: [text of the ends]}
//   kind "stack": {parts: [{share: 0..1, color, label}]}                      kind "quote": {text}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

function canvas(width, height) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "figure", "aria-hidden": "true", preserveAspectRatio: "none" });
}

function bars({ values, before, groups, top: given }) {
  const box = node("div", "bars");
  const top = given ?? Math.max(...values, 0.01);
  let i = 0;
  for (const [title, labels] of groups) {
    const group = node("div", "group");
    const columns = node("div", "columns");
    group.style.flexGrow = labels.length;
    for (const label of labels) {
      columns.append(column(values[i], before?.[i], label, top));
      i += 1;
    }
    group.append(columns);
    if (title) group.append(node("span", "tick title", title));
    box.append(group);
  }
  return box;
}

function column(value, before, label, top) {
  const made = node("div", "column");
  const plot = node("div", "plot");
  for (const [kind, height] of [["before", before], ["after", value]]) {
    if (height === undefined) continue;
    const bar = node("span", `bar ${kind}`);
    bar.style.height = `${Math.max(2, (100 * height) / top)}%`;
    plot.append(bar);
  }
  made.append(plot, node("span", "tick", label));
  return made;
}

function line({ measured, values, low, high, labels, ticks }) {
  const box = node("div", "lines");
  const svg = canvas(100, 44);
  const span = high - low || 1;
  for (const [name, line] of [["measured", measured], ["curve", values]]) {
    const points = line.map((value, i) => [(100 * i) / Math.max(line.length - 1, 1), 42 - (40 * (value - low)) / span]);
    const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points: path, class: name, "vector-effect": "non-scaling-stroke" }));
  }
  const steps = node("div", "steps");
  steps.append(...ticks.map((text) => node("span", "tick", text)));
  box.append(node("span", "tick", labels[0]), svg, node("span", "tick", labels[1]), steps);
  return box;
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
  made.append(head);
  if (content.figure) made.append(FIGURES[content.figure.kind](content.figure));
  made.append(node("p", "caption", content.caption));
  if (content.page) {
    const way = node("a", "way", `→ ${content.page.name}`);
    way.href = content.page.address;
    made.append(way);
  }
  return made;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".loop");
  root.setAttribute("aria-label", data.label);
  const row = node("div", "row");
  data.cards.forEach((content, i) => row.append(card(content, i + 1)));
  const back = node("div", "back");
  back.append(node("span", "pulse"));
  root.replaceChildren(row, back, node("p", "words", data.back));
}
