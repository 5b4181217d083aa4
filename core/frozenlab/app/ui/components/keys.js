// Keys that press buttons of the page, wherever the focus is, unless what has the focus takes text.
// data: {keys: {key: the `key` of the button}}

const listeners = new WeakMap();

export default function ({ data, parentElement }) {
  document.removeEventListener("keydown", listeners.get(parentElement));
  const press = (event) => {
    const name = Object.hasOwn(data.keys, event.key.toLowerCase()) ? data.keys[event.key.toLowerCase()] : null;
    if (!name || event.repeat || belongs(event)) return;
    const button = document.querySelector(`.st-key-${name} button`);
    if (!button || button.disabled) return;
    event.preventDefault();
    button.click();
  };
  listeners.set(parentElement, press);
  document.addEventListener("keydown", press);
  return () => document.removeEventListener("keydown", press);
}
