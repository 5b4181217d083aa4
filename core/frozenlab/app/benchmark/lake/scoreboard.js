// Tables of figures in which every figure can be a way to the boards behind it. Text goes in by textContent only.
// data: {label, groups: [{title, note, wide, heads: [{text, hint}], rows: [{name, sign, color, tag, hint, quiet, cells: [cell]}]}]}
// cell: {text, small, hint, leads, shade: 0..1 | null, span: [value, low, high] | null}; sends picked = leads of the cell.

// A rate on a line from 0 to 100 %: a dot, hollow for a row that is not ours, on the bar of its interval.
function track([value, low, high], { quiet, color }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 100 8");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const line = (className, from, to) => {
    const drawn = document.createElementNS(SVG, "line");
    drawn.setAttribute("class", className);
    for (const [name, at] of Object.entries({ x1: 100 * from, x2: 100 * to, y1: 4, y2: 4 })) drawn.setAttribute(name, at);
    svg.append(drawn);
  };
  line("rail", 0, 1);
  line("interval", low, high);
  const box = node("span", "track");
  box.style.setProperty("--own", color);
  const dot = node("i", quiet ? "dot hollow" : "dot");
  dot.style.left = `${100 * value}%`;
  box.append(svg, dot);
  return box;
}

function figure(cell, row, head, send) {
  const td = node("td", cell.shade === null ? "" : "heat");
  if (cell.shade !== null) td.style.setProperty("--shade", `${Math.round(cell.shade * 46)}%`);
  const box = node(cell.leads ? "button" : "span", "figure");
  if (cell.leads) {
    box.type = "button";
    box.onclick = () => send(cell.leads);
    box.setAttribute("aria-label", `${row.name}, ${head.text}: ${cell.text} ${cell.small}; show the boards`);
  }
  box.title = cell.hint;
  const words = node("span", "words");
  words.append(node("b", "", cell.text), node("small", "", cell.small));
  box.append(words);
  if (cell.span) box.append(track(cell.span, row));
  td.append(box);
  return td;
}

function line(row, heads, send) {
  const tr = node("tr", row.quiet ? "quiet" : "");
  const th = node("th");
  th.scope = "row";
  th.title = row.hint;
  const sign = node("i", "sign", row.sign);
  sign.style.color = row.color;
  const name = node("span", "name", row.name);
  if (row.tag) name.append(" ", node("em", "", row.tag));
  const box = node("span", "row");
  if (row.sign) box.append(sign);
  box.append(name);
  th.append(box);
  tr.append(th, ...row.cells.map((cell, i) => figure(cell, row, heads[i + 1], send)));
  return tr;
}

function group({ title, note, wide, heads, rows }, send) {
  const section = node("section", wide ? "wide" : "");
  const head = node("header");
  if (title) head.append(node("b", "", title));
  if (note) head.append(" ", node("span", "", note));
  if (title || note) section.append(head);
  const table = node("table", rows.some((row) => row.cells.some((cell) => cell.shade !== null)) ? "cells" : "");
  const top = node("tr");
  for (const { text, hint } of heads) {
    const th = node("th", hint ? "told" : "", text);
    th.scope = "col";
    th.title = hint;
    top.append(th);
  }
  const thead = node("thead");
  thead.append(top);
  const body = node("tbody");
  body.append(...rows.map((row) => line(row, heads, send)));
  table.append(thead, body);
  const scroll = node("div", "scroll");
  scroll.append(table);
  section.append(scroll);
  return section;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const board = parentElement.querySelector(".scoreboard");
  board.setAttribute("aria-label", data.label);
  board.replaceChildren(...data.groups.map((one) => group(one, (leads) => setTriggerValue("picked", leads))));
}
