// What the pictures made of HTML share; put before each of them. Text goes in by textContent only.

const SVG = "http://www.w3.org/2000/svg";

function node(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = String(text).replace(/(?<=\d) %/g, "\u00a0%"); // no line begins with a per cent sign
  return made;
}

