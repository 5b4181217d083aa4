// Streamlit imports a component's module for each update, and Chromium may end two imports that overlap in the wrong order: then an outdated update is
// shown last. Streamlit cleans up after it at once, while the component is on the page: it is closed, and the newest of the others is shown again.
const MOST_OVERLAPPING = 4;
const shownIn = new WeakMap(); // parentElement -> its last updates, each with what closes it

export default function (update) {
  const root = update.parentElement;
  const shown = { update, close: showUpdate(update) };
  shownIn.set(root, [...(shownIn.get(root) ?? []), shown].slice(-MOST_OVERLAPPING));
  return () => {
    shown.close?.();
    if (!root.isConnected) return;
    const others = shownIn.get(root).filter((other) => other !== shown), newest = others.at(-1);
    shownIn.set(root, others);
    if (!newest) return;
    newest.close?.();
    newest.close = showUpdate(newest.update);
  };
}
