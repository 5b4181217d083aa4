// A piece of the app's own HTML (core/frozenlab/app/ui/markup.py, every text in it escaped) in which each evidence id can be clicked.
// data: {html}

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".cited");
  if (place.dataset.html !== data.html) {
    place.dataset.html = data.html;
    place.innerHTML = data.html;
  }
  for (const chip of place.querySelectorAll(".fl-chip")) {
    const pick = () => setTriggerValue("picked", chip.textContent);
    chip.setAttribute("role", "button");
    chip.setAttribute("aria-label", `Open the boards behind ${chip.textContent}`);
    chip.title = "Open the boards behind it";
    chip.tabIndex = 0;
    chip.onclick = pick;
    chip.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick();
    };
  }
}
