// Streamlit imports a component's module for each update, and Chromium may end two imports that overlap in the wrong order: then an outdated update is
// shown last. Streamlit cleans up after it at once, while the component is on the page: what was shown before it comes back.
const MOST_OVERLAPPING = 4;
const shownIn = new WeakMap(); // parentElement -> its last updates

export default function (update) {
  const root = update.parentElement;
  shownIn.set(root, [...(shownIn.get(root) ?? []), update].slice(-MOST_OVERLAPPING));
  const close = showUpdate(update);
  return () => {
    if (!root.isConnected) return close?.();
    const updates = shownIn.get(root), rest = updates.filter((one) => one !== update);
    shownIn.set(root, rest);
    if (updates.at(-1) === update && rest.length) showUpdate(rest.at(-1));
  };
}
