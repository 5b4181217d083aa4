// Two buttons in the toolbar of every Plotly figure, beside the camera, which saves SVG: one saves the figure as PNG, one what it shows as CSV.
// In the CSV a line for each point: the panel, the series, x, y, the bounds of its interval, z of a heat map, and what its hover text says.

const HEAD = ["panel", "series", "x", "y", "low", "high", "z", "details"];
const SHEET = "M3 3h18v18H3V3Zm2 4v3h6V7H5Zm8 0v3h6V7h-6Zm-8 5v3h6v-3H5Zm8 0v3h6v-3h-6Zm-8 5v2h6v-2H5Zm8 0v2h6v-2h-6Z";
const PICTURE = "M3 4h18v16H3V4Zm2 2v9l4-4 4 4 3-3 3 3V6H5Zm10.5 1.5a1.6 1.6 0 1 1 0 3.2 1.6 1.6 0 0 1 0-3.2Z";
const SVG = "http://www.w3.org/2000/svg";
const SHARP = 2; // pixels of a PNG for one of the figure

function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  const text = String(value).replace(/<br>/g, " ").replace(/<[^>]+>/g, "");
  const safe = typeof value === "string" && isNaN(text) ? text.replace(/(^|;)(?=[=+\-@\t\r＝＋－＠])/g, "$1'") : text; // no formula, as as_csv
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

// The title above a panel, else that of its scale.
function panel(layout, trace) {
  const axis = (name) => layout[`${name[0]}axis${name.slice(1)}`];
  const [x, y] = [axis(trace.xaxis ?? "x"), axis(trace.yaxis ?? "y")];
  if (!x || !y) return "";
  const near = (a, b) => Math.abs(a - b) < 1e-6;
  const title = (layout.annotations ?? []).find(
    (one) => one.xref === "paper" && near(one.x, (x.domain[0] + x.domain[1]) / 2) && near(one.y, y.domain[1]),
  );
  return title?.text ?? y.title?.text ?? "";
}

function lines(traces, layout) {
  const found = [HEAD];
  for (const trace of traces) {
    if (trace.visible === false || trace.visible === "legendonly") continue;
    const start = [panel(layout, trace), trace.name ?? ""];
    if (trace.z?.length && trace.z[0]?.length !== undefined) {
      Array.from(trace.z).forEach((row, i) => Array.from(row).forEach((z, j) => found.push([...start, trace.x?.[j] ?? j, trace.y?.[i] ?? i, "", "", z, ""])));
      continue;
    }
    const error = trace.error_y?.visible === false ? {} : trace.error_y ?? {};
    for (let i = 0; i < Math.max(trace.x?.length ?? 0, trace.y?.length ?? 0); i++) {
      const y = trace.y?.[i];
      const up = error.array?.[i];
      const down = error.symmetric === false ? error.arrayminus?.[i] : up;
      const details = [trace.customdata?.[i] ?? []].flat().filter((one) => one !== null && typeof one !== "object").join("; ");
      found.push([...start, trace.x?.[i], y, down === undefined ? "" : y - down, up === undefined ? "" : y + up, "", details]);
    }
  }
  return found.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

function save(figure) {
  const name = figure._context?.toImageButtonOptions?.filename ?? "frozenlab-figure";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", lines(figure._fullData, figure._fullLayout)], { type: "text/csv" }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
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
