// Students or kinds of task as cards: to choose one, or to lay tokens on. Text goes in by textContent only, and boards as pictures.
// data: {asks, kinds: [{cell, title, more, says, svg | lines, alt, fault, rate, percent, note}], guess, laid: {cell: n}, tokens};
// level: the tag of a card's heading. asks: whether a card is to be chosen; else tokens are laid. guess: the card that is chosen.
// sends guessed = cell, or laid = {cell: n} after every token.

function still({ svg, lines, alt }) {
  const box = node("div", "still");
  if (svg) {
    const picture = node("img");
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    picture.alt = alt;
    box.append(picture);
  } else for (const [at, line] of lines.entries()) box.append(node(at ? "span" : "b", "", line));
  return box;
}

function rate({ rate, percent, note }) {
  const box = node("div", "rate"), words = node("p"), track = node("i", "track");
  words.append(node("b", "", percent), node("small", "", note));
  track.append(node("i"));
  track.firstChild.style.width = `${100 * rate}%`;
  box.append(words, track);
  return box;
}

class Kinds {
  constructor(root) {
    this.root = root;
  }

  show(data) {
    const signature = JSON.stringify([data.asks, data.kinds, data.guess]);
    if (signature === this.signature) return; // the tokens that were sent come back: the reader goes on laying
    this.signature = signature;
    this.data = data;
    this.laid = { ...data.laid };
    this.left = node("output", "left");
    this.left.setAttribute("aria-live", "polite");
    const list = node("ul");
    this.cards = data.kinds.map((kind) => this.card(kind));
    list.append(...this.cards.map(({ element }) => element));
    this.root.replaceChildren(...(data.asks ? [] : [this.left]), list);
    if (!data.asks) this.tell();
  }

  card(kind) {
    const { asks, guess, level } = this.data;
    const element = node("li", kind.cell === guess ? "guess" : "");
    const head = node(level, "", kind.title);
    element.append(still(kind), node("p", "fault", kind.fault), head, node("p", "more", kind.more));
    if (asks) {
      const button = node("button", "this");
      button.type = "button";
      button.setAttribute("aria-label", kind.says);
      if (kind.cell === guess) button.setAttribute("aria-pressed", true);
      element.onclick = () => this.guessed(kind.cell); // its button, which covers it, is for the keyboard
      element.append(button);
      return { kind, element };
    }
    if (kind.cell === guess) head.append(" ", node("em", "", "your guess"));
    const row = node("div", "lay");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", `Tokens on ${kind.title}`);
    const [fewer, more] = [["−", "One token less on"], ["+", "One token more on"]].map(([sign, words]) => {
      const button = node("button", "", sign);
      button.type = "button";
      button.setAttribute("aria-label", `${words} ${kind.title}`);
      return button;
    });
    const coins = node("span", "coins"), count = node("b", "count");
    row.append(fewer, count, more);
    element.append(rate(kind), row, coins);
    return { kind, element, fewer, more, coins, count };
  }

  lay(cell, by) {
    this.laid[cell] += by;
    this.tell();
    this.send({ ...this.laid });
  }

  tell() {
    const left = this.data.tokens - Object.values(this.laid).reduce((sum, one) => sum + one, 0);
    for (const { kind, fewer, more, coins, count } of this.cards) {
      const n = this.laid[kind.cell];
      count.textContent = n;
      while (coins.childElementCount > n) coins.lastChild.remove();
      while (coins.childElementCount < n) coins.append(node("i", "coin"));
      // Not disabled, which would take the keyboard's focus away.
      fewer.setAttribute("aria-disabled", n === 0);
      more.setAttribute("aria-disabled", left === 0);
      fewer.onclick = n === 0 ? null : () => this.lay(kind.cell, -1);
      more.onclick = left === 0 ? null : () => this.lay(kind.cell, 1);
    }
    this.left.replaceChildren(...Array.from({ length: left }, () => node("i", "coin")), node("span", "", left ? `${left} token${left === 1 ? "" : "s"} left` : "All tokens are laid"));
  }
}

const shown = new WeakMap();

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const kinds = shown.get(parentElement) ?? new Kinds(parentElement.querySelector(".kinds"));
  shown.set(parentElement, kinds);
  kinds.send = (laid) => setStateValue("laid", laid);
  kinds.guessed = (cell) => setTriggerValue("guessed", cell);
  kinds.show(data);
}
