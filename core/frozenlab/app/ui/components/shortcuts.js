// The sheet of shortcuts. data: {groups: {where: {key: what it does}}}

const listeners = new WeakMap();

export default function ({ data, parentElement }) {
  const sheet = parentElement.querySelector("dialog");
  const close = node("button", "", "Close");
  close.type = "button";
  close.onclick = () => sheet.close();
  sheet.replaceChildren(node("h2", "", "Keyboard shortcuts"), close, ...Object.entries(data.groups).map(([where, keys]) => {
    const group = node("section");
    const list = node("dl");
    for (const [key, what] of Object.entries(keys)) list.append(node("dt", "", key), node("dd", "", what));
    group.append(node("h3", "", where), list);
    return group;
  }));
  document.removeEventListener("keydown", listeners.get(parentElement));
  const typed = (event) => {
    if (event.key !== "?" || (!sheet.open && belongs(event))) return;
    event.preventDefault();
    if (sheet.open) return sheet.close();
    sheet.showModal();
    document.documentElement.dataset.sheet = "open"; // no key means what lies behind it: see focus.js
  };
  sheet.onclose = () => { delete document.documentElement.dataset.sheet; };
  listeners.set(parentElement, typed);
  document.addEventListener("keydown", typed);
  return () => {
    document.removeEventListener("keydown", typed);
    delete document.documentElement.dataset.sheet;
  };
}
