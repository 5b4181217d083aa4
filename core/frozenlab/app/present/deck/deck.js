// The deck: one scene a screen, by keys, clicks and swipes; a second window has the notes.
// data: {id, title, scenes, notes: {scene name: text}, says, colors: {light, dark}, leave: address | null, keys: {key: what it does}}; scenes: see present/scenes.py.

const SVG = "http://www.w3.org/2000/svg";
const NEXT = ["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"], BEFORE = ["ArrowLeft", "ArrowUp", "PageUp", "Backspace"];
const WORD = 70, LINE = 650; // milliseconds between words that are written, and lines that light up
const NOTES = "#notes"; // the address of the speaker's window ends with it

function made(tag, className, text, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return parent ? parent.appendChild(element) : element;
}

function drawn(tag, attributes, parent, text) {
  const element = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

class Deck {
  constructor(root) {
    this.root = root;
    this.at = 0;
    this.players = [];
    this.timers = [];
    this.typed = (event) => this.key(event);
    this.told = (event) => this.hear(event);
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    const again = this.data && JSON.stringify(data) === JSON.stringify(this.data);
    this.data = data;
    this.deck = this.find(".deck");
    this.speaks = location.hash === NOTES && Boolean(opener);
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.began ??= Date.now();
    this.wire();
    this.paint(this.dark ?? this.dims());
    this.deck.classList.toggle("speaks", this.speaks);
    this.find(".desk").hidden = !this.speaks;
    this.find(".says").textContent = data.says;
    if (!this.deck.open) this.deck.showModal();
    if (!again) this.go(this.at, !this.speaks);
    if (this.speaks) this.ask();
  }

  wire() {
    removeEventListener("keydown", this.typed, true);
    addEventListener("keydown", this.typed, true);
    removeEventListener("message", this.told);
    addEventListener("message", this.told);
    this.deck.oncancel = (event) => { event.preventDefault(); this.leave(); };
    this.find(".back").onclick = () => this.go(this.at - 1);
    this.find(".on").onclick = () => this.go(this.at + 1);
    this.find(".notes").onclick = () => this.openNotes();
    this.find(".full").onclick = () => this.fill();
    this.find(".leave").onclick = () => this.leave();
    this.find(".notes").hidden = this.speaks;
    this.find(".leave").hidden = this.speaks || !this.data.leave;
    const scene = this.find(".scene");
    scene.onclick = (event) => { if (!event.composedPath().some((element) => element.tagName === "BUTTON")) this.go(this.at + (event.clientX < innerWidth / 5 ? -1 : 1)); };
    scene.ontouchstart = (event) => { this.touched = event.touches[0].clientX; };
    scene.ontouchend = (event) => {
      const moved = event.changedTouches[0].clientX - this.touched;
      if (Math.abs(moved) < 50) return;
      event.preventDefault();
      this.go(this.at + (moved < 0 ? 1 : -1));
    };
    this.find(".keys button").onclick = () => this.find(".keys").close();
    this.find(".keys dl").replaceChildren();
    for (const [name, what] of Object.entries(this.data.keys)) {
      made("dt", "", name, this.find(".keys dl"));
      made("dd", "", what, this.find(".keys dl"));
    }
    clearInterval(this.ticking);
    if (this.speaks) this.ticking = setInterval(() => this.tick(), 500);
  }

  close() {
    removeEventListener("keydown", this.typed, true);
    removeEventListener("message", this.told);
    clearInterval(this.ticking);
    this.clear();
    this.deck?.close();
  }

  leave() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (this.data.leave) location.href = this.data.leave;
  }

  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath().some((element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))) return;
    const pressed = event.composedPath()[0].tagName === "BUTTON" && [" ", "Enter"].includes(event.key);
    const sheet = this.find(".keys");
    if (sheet.open) { // the talk stands still behind it
      if (event.key === "Tab" || pressed) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (["?", "Escape"].includes(event.key)) sheet.close();
      return;
    }
    const act = {
      Home: () => this.go(0), End: () => this.go(this.data.scenes.length - 1), f: () => this.fill(), n: () => this.openNotes(), r: () => this.go(this.at),
      d: () => this.paint(!this.dark), b: () => this.black(!this.isBlack), Escape: () => this.leave(), "?": () => sheet.showModal(),
    }[event.key] ?? (/^[1-9]$/.test(event.key) ? () => this.go(event.key - 1) : NEXT.includes(event.key) ? () => this.go(this.at + 1) : BEFORE.includes(event.key) ? () => this.go(this.at - 1) : null);
    if (!act || pressed) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // the boards listen to the same keys
    act();
  }

  // --- two windows

  openNotes() {
    if (!this.speaks) this.notes = open(location.href.split("#")[0] + NOTES, `notes-${this.data.id}`, "popup,width=1100,height=700");
  }

  // A notes window that opens does not know where the talk is: it asks, and moves nobody.
  ask() {
    opener.postMessage({ talk: this.data.id, at: this.at, asks: true }, "*");
  }

  // The other window goes to the same scene.
  share() {
    const other = this.speaks ? opener : this.notes;
    other?.postMessage({ talk: this.data.id, at: this.at, began: this.began, black: this.isBlack }, "*");
  }

  // The room sees nothing; the speaker's own window only fades.
  black(on, share = true) {
    this.isBlack = on;
    this.deck.classList.toggle("black", on);
    if (share) this.share();
  }

  hear({ data, source }) {
    if (data?.talk !== this.data.id || !Number.isInteger(data.at ?? NaN)) return;
    if (!this.speaks) this.notes = source;
    if (this.speaks) this.began = data.began;
    if (data.asks) return this.share();
    this.black(Boolean(data.black), false);
    if (data.at !== this.at) this.go(data.at, false);
  }

  tick() {
    const passed = Math.max(0, Math.floor((Date.now() - this.began) / 1000));
    this.find(".hour").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    this.find(".elapsed").textContent = `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, "0")}`;
  }

  // --- one scene

  go(to, share = true) {
    const { scenes, notes } = this.data;
    this.at = Math.max(0, Math.min(to, scenes.length - 1));
    this.clear();
    const scene = scenes[this.at], stage = this.find(".scene");
    stage.classList.toggle("moving", !this.still && !this.speaks);
    const heading = made("h1", "", scene.heading, stage);
    const body = made("div", `body ${scene.kind}${scene.small ? " small" : ""}`, undefined, stage);
    this[scene.kind](scene, body);
    const note = made("p", "note", scene.note, stage);
    if (scene.boards?.length === 1 && scene.boards[0].tracks?.length === 1) this.besideBoard(body, heading, note);
    this.find(".count").textContent = `${this.at + 1} / ${scenes.length}`;
    this.find(".line i").style.width = `${(100 * (this.at + 1)) / scenes.length}%`;
    this.find(".now").textContent = scene.heading;
    this.find(".spoken").textContent = notes[scene.name] ?? "";
    const next = scenes[this.at + 1];
    this.find(".next").textContent = next ? `Next: ${next.heading}` : "This is the last scene.";
    if (share) this.share();
  }

  clear() {
    for (const player of this.players) player.close();
    for (const timer of this.timers) clearTimeout(timer);
    [this.players, this.timers] = [[], []];
    this.find(".scene").replaceChildren();
  }

  later(ms, act) {
    if (this.still || this.speaks) act();
    else this.timers.push(setTimeout(act, ms));
  }

  numbers({ lead, before, after, what }, body) {
    made("p", "lead", lead, body);
    made("b", "", before, body);
    made("b", "", after, body);
    made("p", "", what, body);
  }

  boards({ boards }, body) {
    for (const board of boards) {
      const place = made("div", "", undefined, body);
      if (board.texts) this.texts(board.texts, place);
      else {
        place.append(this.find("template.player").content.cloneNode(true));
        const player = new Player(place);
        this.players.push(player);
        player.show({ ...board, height: 2000, autoplay: !this.speaks });
      }
    }
  }

  // A single board takes the whole height: the words stand beside it.
  besideBoard(body, heading, note) {
    const figure = body.querySelector("figure");
    body.classList.add("alone");
    figure.prepend(heading);
    figure.append(note);
    for (const player of this.players) player.layout();
  }

  texts(texts, place) {
    place.className = "texts";
    for (const { label, badge, text } of texts) {
      const answer = made("div", "", undefined, place);
      made("p", "", `${label} · ${badge}`, answer);
      made("pre", "", text, answer);
    }
  }

  curve({ steps, checks, total }, body) {
    const svg = drawn("svg", { role: "img", "aria-label": checks.map(({ at, label }) => `step ${at}: ${label}`).join(", ") }, body);
    const { width: wide, height: high } = svg.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(svg).fontSize), [left, low, right] = [3.2 * size, 1.8 * size, 2 * size];
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const least = Math.floor(10 * Math.min(...checks.map((check) => check.low), ...steps.map(([, rate]) => rate))) / 10;
    const x = (step) => left + ((wide - left - right) * step) / Math.max(total, 1), y = (rate) => size + ((high - size - low) * (1 - rate)) / (1 - least);
    for (let rate = least; rate < 1.001; rate += 0.1) {
      drawn("line", { class: "grid", x1: left, x2: wide - right, y1: y(rate), y2: y(rate) }, svg);
      drawn("text", { class: "tick", x: left - size / 2, y: y(rate) + size / 3, "text-anchor": "end" }, svg, `${Math.round(100 * rate)} %`);
    }
    drawn("text", { class: "tick", x: wide - right, y: high - size / 3, "text-anchor": "end" }, svg, `${total} training steps`);
    drawn("polyline", { class: "steps", pathLength: 1, points: steps.map(([step, rate]) => `${x(step)},${y(rate)}`).join(" ") }, svg);
    for (const { at, rate, low: least95, high: most95, label } of checks) {
      const group = drawn("g", { style: `--at: ${at / Math.max(total, 1)}` }, svg);
      drawn("line", { class: "range", x1: x(at), x2: x(at), y1: y(least95), y2: y(most95) }, group);
      drawn("circle", { class: "check", cx: x(at), cy: y(rate), r: size / 3 }, group);
      drawn("text", { x: x(at), y: y(most95) - size / 3, "text-anchor": "middle" }, group, label);
    }
  }

  evidence({ lines }, body) {
    const list = made("ul", "evidence", undefined, body);
    let turn = 0;
    for (const { id, text, cited } of lines) {
      const line = made("li", "", undefined, list);
      made("code", "", id, line);
      made("span", "", text, line);
      if (cited) this.later(LINE * ++turn, () => line.classList.add("lit"));
    }
  }

  writing({ summary, claims, knobs }, body) {
    const words = made("blockquote", "", undefined, body);
    let turn = 0;
    for (const [n, text] of [summary, ...claims].entries()) {
      const line = made("p", n ? "" : "summary", undefined, words);
      for (const word of text.split(" ")) {
        const span = made("span", "word", `${word} `, line);
        this.later(WORD * ++turn, () => span.classList.add("said"));
      }
    }
    const list = made("dl", "knobs", undefined, body);
    const most = Math.max(...knobs.flatMap(({ before, after }) => [before, after]), 0.01);
    const percent = (value) => `${Math.round(100 * value)} %`;
    for (const { cell, knob, before, after } of knobs) {
      made("dt", "", `${cell}, ${knob}`, list);
      const bar = made("i", "", undefined, made("dd", "track", undefined, list));
      const value = made("dd", "", percent(before), list);
      bar.style.width = `${(100 * before) / most}%`;
      this.later(WORD * turn + 400, () => {
        bar.style.width = `${(100 * after) / most}%`;
        value.textContent = `${percent(before)} → ${percent(after)}`;
      });
    }
  }

  outcomes({ rows, answer }, body) {
    const table = made("table", "outcomes", undefined, body);
    const head = made("tr", "", undefined, table);
    for (const name of ["map", "it predicted", "it came", "95 % interval", "boards"]) made("th", "", name, head).scope = "col";
    for (const { cell, predicted, came, interval, n } of rows) {
      const row = made("tr", "", undefined, table);
      for (const [name, text] of Object.entries({ cell, predicted, came, interval, n })) made("td", name, text, row);
    }
    made("p", "", answer, body);
  }

  // --- light and dark

  dims() {
    const told = getComputedStyle(this.root.host ?? this.root).colorScheme;
    return told === "dark" || (told !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  }

  paint(dark) {
    this.dark = dark;
    const colors = this.data.colors[dark ? "dark" : "light"];
    const told = {
      "--st-background-color": colors.ground, "--st-text-color": colors.text, "--st-secondary-background-color": colors.surface, "--st-border-color": colors.line,
      "--st-primary-color": colors.accent, "--st-green-text-color": colors.good, "--fl-muted": colors.muted, "--fl-blue": colors.blue,
      "--ink": colors.text, "--accent": colors.accent, "--ground": colors.ground, "--surface": colors.surface, "--line": colors.line,
    };
    for (const [name, value] of Object.entries(told)) this.deck.style.setProperty(name, value);
    this.deck.closest("body")?.style.setProperty("background", colors.ground); // of the file; in the app the page behind has its own
    for (const player of this.players) player.layout();
  }
}
