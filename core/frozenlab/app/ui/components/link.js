// A button that copies the address of the view, with all its parameters.

const CHAIN = "M3.9 12a3.1 3.1 0 0 1 3.1-3.1h4V7H7a5 5 0 0 0 0 10h4v-1.9H7A3.1 3.1 0 0 1 3.9 12ZM8 13h8v-2H8v2Zm9-6h-4v1.9h4a3.1 3.1 0 0 1 0 6.2h-4V17h4a5 5 0 0 0 0-10Z";
const SVG = "http://www.w3.org/2000/svg";
const SHOWN = 2000; // milliseconds that the answer stands there

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea"); // browsers have a clipboard only for safe addresses
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("no clipboard");
}

export default function ({ parentElement }) {
  const button = parentElement.querySelector("button");
  const status = parentElement.querySelector("span");
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  icon.append(document.createElementNS(SVG, "path"));
  icon.firstChild.setAttribute("d", CHAIN);
  button.replaceChildren(icon);
  let timer;
  button.onclick = async () => {
    try {
      await copy(window.location.href);
      status.textContent = "Link copied";
    } catch {
      status.textContent = "The browser does not let pages copy: take the address from its bar";
    }
    clearTimeout(timer);
    timer = setTimeout(() => status.replaceChildren(), SHOWN);
  };
  return () => clearTimeout(timer);
}
