// The knobs of one cell, side by side: bars to drag, or to move with the arrow keys, each with its number on it.
// data: {knobs: [{knob, name, says, value, most}]}; sends turned = {knob: value}, all in per cent, when a bar is let go.

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".knobs");
  const shape = JSON.stringify(data.knobs.map(({ knob, says, most }) => [knob, says, most]));
  if (root.shape !== shape) {
    root.shape = shape;
    root.replaceChildren(...data.knobs.map((knob) => bar(knob, () => setStateValue("turned", values(root)))));
  }
  for (const { knob, value } of data.knobs) {
    const input = root.querySelector(`[name="${knob}"]`);
    input.value = value;
    tell(input);
  }
}

function bar({ knob, name, says, most }, send) {
  const label = node("label", knob), input = node("input");
  Object.assign(input, { type: "range", name: knob, min: 0, max: most, step: 1, oninput: () => tell(input), onchange: send });
  input.setAttribute("aria-label", says);
  label.append(node("small", "", name), input, node("output"));
  return label;
}

function tell(input) {
  input.parentElement.style.setProperty("--done", input.value / input.max);
  input.nextSibling.value = `${input.value} %`;
  input.setAttribute("aria-valuetext", `${input.value} %`);
}

function values(root) {
  return Object.fromEntries([...root.querySelectorAll("input")].map((input) => [input.name, Number(input.value)]));
}
