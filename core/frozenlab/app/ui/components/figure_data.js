// Two buttons in the toolbar of every Plotly figure, beside the camera, which saves SVG: one saves the figure as PNG, one what it shows as CSV.
// A saved picture has its legend in it, which the page shows above the figure.
// In the CSV a line for each point: the panel, the series, x and y under the names of their axes, as their ticks are written, the bounds of the
// interval, n, the value of a colour, the text at the point, and what the figure names in the trace's meta of its hover data. What has neither a
// name nor hover text is drawing, and a column without values goes.

const SHEET = "M3 3h18v18H3V3Zm2 4v3h6V7H5Zm8 0v3h6V7h-6Zm-8 5v3h6v-3H5Zm8 0v3h6v-3h-6Zm-8 5v2h6v-2H5Zm8 0v2h6v-2h-6Z";
const PICTURE = "M3 4h18v16H3V4Zm2 2v9l4-4 4 4 3-3 3 3V6H5Zm10.5 1.5a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2Z";
const SVG = "http://www.w3.org/2000/svg";
const SHARP = 2; // pixels of a PNG for one of the figure
const LEGEND = 40; // pixels above a saved figure for its legend

function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = String(value).replace(/<br>/g, " ").replace(/<[^>]+>/g, "");
  const safe = typeof value === "string" && isNaN(text) ? text.replace(/(^|;)(?=[=+\-@\t\r＝＋－＠])/g, "$1'") : text; // no formula, as as_csv
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

const axis = (layout, trace, letter) => layout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`];
// A title that Plotly shows only to people who may edit the figure is none.
const titled = (layout, one, letter) => (one?.title?.text && one.title.text !== layout._dfltTitle?.[letter] ? one.title.text : "");

// The title above a panel, else that of its scale where panels differ in it.
function panel(layout, trace) {
  const [x, y] = [axis(layout, trace, "x"), axis(layout, trace, "y")];
  if (!x || !y) return "";
  const near = (a, b) => Math.abs(a - b) < 1e-6;
  const title = (layout.annotations ?? []).find(
    (one) => one.xref === "paper" && near(one.x, (x.domain[0] + x.domain[1]) / 2) && near(one.y, y.domain[1]),
  );
  return title?.text ?? titled(layout, y, "y");
}

// A place on an axis whose ticks are words, by the nearest tick.
function placed(one, value) {
  const at = one?.ticktext ? Array.from(one.tickvals ?? []) : [];
  if (!at.length || typeof value !== "number") return value;
  const near = at.reduce((best, tick, i) => (Math.abs(tick - value) < Math.abs(at[best] - value) ? i : best), 0);
  return Math.abs(at[near] - value) < 0.5 ? one.ticktext[near] : value;
}

function lines(traces, layout) {
  const shown = traces.filter((trace) => trace.visible === true && (trace.hoverinfo !== "skip" || trace._input?.name));
  const name = (letter) => {
    const names = new Set(shown.map((trace) => titled(layout, axis(layout, trace, letter), letter)).filter(Boolean));
    return names.size === 1 ? [...names][0] : letter;
  };
  const colour = shown[0]?.colorbar?.title?.text || layout.coloraxis?.colorbar?.title?.text || "value";
  const head = ["panel", "series", name("x"), name("y"), "low", "high", "n", colour, "text"];
  const found = [];
  for (const trace of shown) {
    const [across, up] = [axis(layout, trace, "x"), axis(layout, trace, "y")];
    const start = [panel(layout, trace), trace._input?.name ?? ""];
    if (trace.z?.length && trace.z[0]?.length !== undefined) {
      Array.from(trace.z).forEach((row, i) => Array.from(row).forEach((z, j) => found.push([...start, trace.x?.[j] ?? j, trace.y?.[i] ?? i, "", "", "", z])));
      continue;
    }
    const [above, beside] = [trace.error_y, trace.error_x].map((one) => (one?.visible === false ? {} : one ?? {}));
    const error = above.array ? above : beside;
    const counted = /n = %\{customdata\[(\d+)\]/.exec(trace.hovertemplate ?? "")?.[1];
    for (let i = 0; i < Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0); i++) {
      const y = trace.y?.[i];
      const middle = above.array ? y : trace.x?.[i];
      const up_by = error.array?.[i];
      const down_by = error.symmetric === false ? error.arrayminus?.[i] : up_by;
      const given = [trace.customdata?.[i] ?? []].flat();
      const shade = Array.isArray(trace.marker?.color) && typeof trace.marker.color[i] === "number" ? trace.marker.color[i] : "";
      const text = Array.isArray(trace.text) && trace.mode?.includes("text") ? trace.text[i] : "";
      const line = [...start, placed(across, trace.x?.[i]), placed(up, y)];
      line.push(down_by === undefined ? "" : middle - down_by, up_by === undefined ? "" : middle + up_by, counted ? given[counted] : "", shade, text);
      (trace.meta ?? []).forEach((named, at) => {
        if (named && !head.includes(named)) head.push(named);
        if (named) line[head.indexOf(named)] = given[at];
      });
      found.push(line);
    }
  }
  const kept = head.map((_, at) => at).filter((at) => found.some((line) => cell(line[at]) !== ""));
  return [head, ...found].map((line) => kept.map((at) => cell(line[at])).join(",")).join("\r\n") + "\r\n";
}

function save(figure) {
  const name = figure._context?.toImageButtonOptions?.filename ?? "frozenlab-figure";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", lines(figure._fullData, figure._fullLayout)], { type: "text/csv" }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The camera copies the layout at once, and draws the copy.
function withLegend({ layout, _context: { toImageButtonOptions: options } }) {
  if (!layout.meta?.legend) return;
  const usual = { ...layout }, { height } = options;
  Object.assign(layout, { showlegend: true, margin: { ...layout.margin, t: layout.margin.t + LEGEND } });
  options.height += LEGEND;
  setTimeout(() => Object.assign(layout, usual) && Object.assign(options, { height }));
}

// Plotly's own camera takes the picture, with other settings for this once.
function photograph(figure, camera) {
  const options = figure._context.toImageButtonOptions, usual = { ...options };
  Object.assign(options, { format: "png", scale: SHARP });
  camera.click();
  Object.assign(options, usual);
}

function add(group, name, words, path, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `modebar-btn ${name}`;
  button.dataset.title = words;
  button.setAttribute("rel", "tooltip");
  button.setAttribute("aria-label", words);
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("class", "icon");
  icon.setAttribute("height", "1em");
  icon.setAttribute("width", "1em");
  icon.append(document.createElementNS(SVG, "path"));
  icon.firstChild.setAttribute("d", path);
  button.append(icon);
  button.onclick = () => act(button.closest(".js-plotly-plot"));
  group.append(button);
}

function equip() {
  for (const group of document.querySelectorAll(".js-plotly-plot .modebar-group:first-child")) {
    if (group.querySelector(".fl-csv")) continue;
    const camera = group.querySelector(".modebar-btn");
    camera.addEventListener("click", () => withLegend(group.closest(".js-plotly-plot")), { capture: true });
    add(group, "fl-png", "Download picture as PNG", PICTURE, (figure) => photograph(figure, camera));
    add(group, "fl-csv", "Download data as CSV", SHEET, save);
  }
}

export default function () {
  let asked = 0;
  const watch = new MutationObserver(() => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      equip();
    });
  });
  watch.observe(document.body, { childList: true, subtree: true });
  equip();
  return () => {
    watch.disconnect();
    cancelAnimationFrame(asked);
  };
}
