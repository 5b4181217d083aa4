// A bar with the stages around the present one and the parts of the page, of which one is shown. All text goes in by textContent.
// data: {stages: [before | null, chosen, after | null], parts: [{id, title}], open}; sends picked = the id of a stage, opened = that of a part.

function stageButton(mark, sign, word, send) {
  const button = node("button", "", sign);
  button.type = "button";
  button.disabled = !mark;
  button.setAttribute("aria-label", mark ? `${word}: ${mark.title}` : `${word}: none`);
  button.title = mark?.title ?? "";
  button.onclick = () => send(mark.id);
  return button;
}

// A link, so that a part can be opened in another tab too.
function partLink({ id, title }, open, send) {
  const link = node("a", "", title);
  const address = new URL(location.href);
  address.searchParams.set("part", id);
  link.href = address.search;
  if (open) link.setAttribute("aria-current", "page");
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    toTheBar(link);
    send(id);
  };
  return link;
}

// A part begins under the bar, wherever the reader was in the one before.
function toTheBar(link) {
  const main = document.querySelector("[data-testid=stMain]");
  const bar = link.getRootNode().host?.closest("[class*=contents-place]")?.parentElement;
  const above = bar?.previousElementSibling;
  if (!main || !above) return;
  const top = main.scrollTop + above.getBoundingClientRect().bottom - parseFloat(getComputedStyle(bar).top);
  if (main.scrollTop > top) main.scrollTo({ top });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const bar = parentElement.querySelector(".contents");
  bar.setAttribute("aria-label", "Contents of this page");
  const [before, chosen, after] = data.stages;
  const send = (id) => setTriggerValue("picked", id);
  const stages = node("div", "stages");
  stages.append(stageButton(before, "‹", "Stage before", send), node("span", "", chosen.title), stageButton(after, "›", "Next stage", send));
  const links = node("div", "links");
  links.append(...data.parts.map((part) => partLink(part, part.id === data.open, (id) => setTriggerValue("opened", id))));
  const focused = bar.querySelector("a:focus")?.textContent;
  bar.replaceChildren(stages, links);
  const here = links.querySelector("[aria-current]");
  links.scrollTo({ left: here.offsetLeft - links.offsetLeft - 40 });
  if (focused) [...links.children].find((link) => link.textContent === focused)?.focus();
}
