// A class as bars: how far each has trained, then what it is worth, the best on top. Text goes in by textContent only.
// data: {before: 0..1, label, rows: [{id, name, kind, at: 0..1 | null, done, value, note}]}, in their order; at null: hidden.

function row() {
  const element = node("li"), track = node("span", "track");
  const parts = { name: node("b", "name"), bar: node("i", "bar"), value: node("b", "value"), note: node("small") };
  track.append(parts.bar, node("i", "before"));
  element.append(parts.name, track, parts.value, parts.note);
  return { element, ...parts };
}

export default function ({ data, parentElement }) {
  const list = parentElement.querySelector(".bars");
  list.setAttribute("aria-label", data.label);
  list.style.setProperty("--before", `${100 * data.before}%`);
  list.rows ??= new Map();
  const places = new Map([...list.rows].map(([id, { element }]) => [id, element.getBoundingClientRect()]));
  const known = new Map(data.rows.map((one) => [one.id, list.rows.get(one.id) ?? row()]));
  list.replaceChildren(...data.rows.map(({ id }) => known.get(id).element));
  list.rows = known;
  for (const one of data.rows) {
    const { element, name, bar, value, note } = known.get(one.id);
    element.className = `${one.kind} ${one.done ? "done" : "trains"} ${one.at === null ? "hidden" : ""}`;
    name.textContent = one.name;
    value.textContent = one.value;
    note.textContent = one.note;
    requestAnimationFrame(() => (bar.style.width = `${100 * (one.at ?? 1)}%`));
    const was = places.get(one.id), now = element.getBoundingClientRect();
    if (was && (was.top !== now.top || was.left !== now.left) && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      element.animate([{ translate: `${was.left - now.left}px ${was.top - now.top}px` }, { translate: "0 0" }], { duration: 700, easing: "ease-in-out" });
    }
  }
}
