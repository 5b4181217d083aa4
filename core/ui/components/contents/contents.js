// A bar with the stages around the present one and a link to each section of the page. All text goes in by textContent.
// data: {stages: [before | null, chosen, after | null], sections: [{anchor, title}]}; sends picked = the id of a stage.

function stageButton(mark, sign, word, send) {
  const button = node("button", "", sign);
  button.type = "button";
  button.disabled = !mark;
  button.setAttribute("aria-label", mark ? `${word}: ${mark.title}` : `${word}: none`);
  button.title = mark?.title ?? "";
  button.onclick = () => send(mark.id);
  return button;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const bar = parentElement.querySelector(".contents");
  bar.setAttribute("aria-label", "Contents of this page");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [before, chosen, after] = data.stages;
  const send = (id) => setTriggerValue("picked", id);
  const stages = node("div", "stages");
  stages.append(stageButton(before, "‹", "Stage before", send), node("span", "", chosen.title), stageButton(after, "›", "Next stage", send));

  const links = node("div", "links");
  for (const { anchor, title } of data.sections) {
    const link = node("a", "", title);
    link.href = `#${anchor}`;
    link.dataset.anchor = anchor;
    link.onclick = (event) => {
      event.preventDefault();
      document.getElementById(anchor)?.scrollIntoView({ behavior: calm ? "auto" : "smooth" });
    };
    links.append(link);
  }
  bar.replaceChildren(stages, links);

  // The section whose heading was passed last is the present one.
  const main = document.querySelector("[data-testid=stMain]");
  const follow = () => {
    const line = bar.getBoundingClientRect().bottom + 40;
    let here = null;
    for (const { anchor } of data.sections) {
      const heading = document.getElementById(anchor);
      if (heading && heading.getBoundingClientRect().top <= line) here = anchor;
    }
    for (const link of links.children) {
      const current = link.dataset.anchor === here;
      if (current === link.hasAttribute("aria-current")) continue;
      if (!current) link.removeAttribute("aria-current");
      else link.setAttribute("aria-current", "location");
      if (current) links.scrollTo({ left: link.offsetLeft - links.offsetLeft - 40, behavior: calm ? "auto" : "smooth" });
    }
  };
  follow();
  main?.addEventListener("scroll", follow, { passive: true });
  return () => main?.removeEventListener("scroll", follow);
}
