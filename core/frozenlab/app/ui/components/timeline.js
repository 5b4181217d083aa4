// The thread of stages: one button a moment of the session, joined by what changed between them.
// data: {label, selected, marks: [{id, title, value, detail, link, state, progress}]}. All text goes in by textContent.

const STATES = { done: "done", running: "running now", waiting: "not yet", stopped: "stopped", failed: "failed" };

function markButton(mark, selected, onPick) {
  const button = node("button", `mark ${mark.state}`);
  button.type = "button";
  button.dataset.id = mark.id;
  button.setAttribute("role", "tab");
  button.setAttribute("aria-selected", String(selected));
  button.tabIndex = selected ? 0 : -1;
  button.disabled = mark.state === "waiting";
  const dot = node("span", "dot");
  dot.style.setProperty("--progress", `${Math.round(100 * mark.progress)}%`);
  dot.setAttribute("aria-hidden", "true");
  dot.append(node("span", "badge", String(mark.id)));
  const words = node("span", "words");
  words.append(node("span", "title", mark.title), node("span", "value", mark.value), node("span", "detail", mark.detail));
  words.append(node("span", "state", [STATES[mark.state], mark.link].filter(Boolean).join(", ")));
  button.append(dot, words);
  button.onclick = () => onPick(mark.id);
  return button;
}

// What the feed of a live session tells of its stages (core/frozenlab/app/ui/live.js).
function advance(thread, marks) {
  for (const mark of marks) {
    const dot = thread.querySelector(`.mark[data-id="${mark.id}"] .dot`);
    dot?.style.setProperty("--progress", `${Math.round(100 * mark.progress)}%`);
  }
}

const listeners = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const thread = parentElement.querySelector(".thread");
  thread.setAttribute("aria-label", data.label);
  const focused = parentElement.activeElement?.dataset?.id;

  const pick = (id) => {
    for (const button of thread.querySelectorAll(".mark")) button.setAttribute("aria-selected", String(Number(button.dataset.id) === id));
    setTriggerValue("picked", id);
  };

  thread.replaceChildren(
    ...data.marks.map((mark) => {
      const cell = node("div", `cell ${mark.state}`);
      cell.append(node("span", "link", mark.link), markButton(mark, mark.id === data.selected, pick));
      return cell;
    }),
  );
  if (thread.dataset.shown !== String(data.selected)) {
    thread.dataset.shown = data.selected;
    const cell = thread.querySelector('[aria-selected="true"]')?.parentElement;
    if (cell) thread.scrollLeft = cell.offsetLeft - (thread.clientWidth - cell.offsetWidth) / 2;
  }
  if (focused !== undefined) thread.querySelector(`.mark[data-id="${focused}"]`)?.focus();

  thread.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const buttons = [...thread.querySelectorAll(".mark:not(:disabled)")];
    const next = buttons[buttons.indexOf(parentElement.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
    pick(Number(next.dataset.id));
  };
  document.removeEventListener("frozenlab-marks", listeners.get(parentElement));
  const told = ({ detail }) => advance(thread, detail);
  listeners.set(parentElement, told);
  document.addEventListener("frozenlab-marks", told);
  return () => document.removeEventListener("frozenlab-marks", told);
}
