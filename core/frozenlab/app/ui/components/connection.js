// Rewords the dialog that Streamlit opens where its server does not answer: it asks about the internet, of which this lab needs none.
// Only texts are replaced, never elements, so that Streamlit can go on drawing its dialog and close it when the server is back.

function words(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (walker.currentNode.nodeValue.trim()) found.push(walker.currentNode);
  return found;
}

function say(node, text) {
  if (node.nodeValue !== text) node.nodeValue = text;
}

function reword(title, text) {
  const app = document.querySelector("[data-test-connection-state]");
  if (!app || app.dataset.testConnectionState === "CONNECTED") return;
  for (const dialog of document.querySelectorAll('[data-testid="stDialog"] section')) {
    const heading = dialog.querySelector("h2");
    if (!heading || !["Connection error", title].includes(heading.textContent)) continue;
    const [first, ...rest] = words(dialog).filter((node) => !heading.contains(node));
    if (!first) continue;
    say(words(heading)[0], title);
    say(first, text);
    for (const node of rest) node.parentElement.closest('[data-testid="stCode"]')?.setAttribute("hidden", "");
  }
}

export default function ({ data }) {
  const watch = new MutationObserver(() => reword(data.title, data.text));
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
  reword(data.title, data.text);
  return () => watch.disconnect();
}
