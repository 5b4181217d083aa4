// The deck: one scene a screen, by keys, clicks and swipes; a second window has the notes.
// data: {id, title, scenes, notes: {scene name: text}, says, colors: {light, dark}, leave: address | null, ways: {name: address}, keys: {key: what it does},
// alone: whether it plays by itself, rehearses: whether the time of each scene is kept, minutes: of the talk}; scenes: see present/scenes.py.

const SVG = "http://www.w3.org/2000/svg";
const NEXT = ["ArrowRight", "ArrowDown", "PageDown", " ", "Enter"], BEFORE = ["ArrowLeft", "ArrowUp", "PageUp", "Backspace"];
const WORD = 70; // milliseconds between words that are written
const READ = 700; // milliseconds between phrases that are read
const FALLS = 250; // milliseconds between boards that fall
const BRIEF = 160; // letters that leave half of the screen to the boards
const MOVES = 1400; // milliseconds in which a knob moves
const LONGER = [4, 8]; // minutes from which on a draft has one more part
const FALLEN = 2300; // milliseconds until the shares move of what has fallen
const WRITTEN = 10000; // milliseconds for which a live scene shows what was written
const NOTES = "#notes"; // the address of the speaker's window ends with it

function made(tag, className, text, parent) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  // No line begins with the sign, with three dots, or within an interval.
  if (text !== undefined) element.textContent = text.replace(/(?<=\d) %/g, "\u00a0%").replace(" …", "\u00a0…").replace(/\([+−.\d]+ to [+−.\d]+\)/g, (bounds) => bounds.replaceAll(" ", "\u00a0"));
  return parent ? parent.appendChild(element) : element;
}

function drawn(tag, attributes, parent, text) {
  const element = parent.appendChild(document.createElementNS(SVG, tag));
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A change of a rate in points, with its sign.
function inPoints(change, digits = 1) {
  const points = (100 * change).toFixed(digits);
  return Number(points) > 0 ? `+${points}` : Number(points) ? points.replace("-", "−") : "0";
}

// What a picture of checks says to those who do not see it.
function spoken(checks) {
  return checks.map(({ at, label }) => `step ${at}: ${label}`).join(", ");
}

// A board with its agents on their starts, without a plan.
function standing(board) {
  return { ...board, steps: 0, margin: 0.08, tracks: board.tracks?.map((track) => ({ ...track, paths: null, fault: null, outcome: null, badge: null, caption: "" })) };
}

function percent(part) {
  return `${Math.round(100 * part)} %`;
}

// What one press leads to: a scene, or one of its parts, which all but the last ask what the scene answers.
function screensOf(scene, place) {
  const parts = scene.parts ?? [{}], all = parts.length;
  return parts.map((part, i) => ({ ...scene, ...part, ...(i < all - 1 && { heading: scene.question, question: "" }), place, part: i, to: (i + 1) / all, of: all > 1 ? ` (${i + 1} of ${all})` : "" }));
}

// What the lab suggests to say of a scene in a talk of so many minutes.
function drafted({ say, more = [] }, minutes) {
  return [say, ...more.filter((_, i) => minutes >= LONGER[i])].join(" ");
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

  // Of the foot: the boards have buttons of the same names.
  button(name) {
    return this.find(`footer .${name}`);
  }

  show(data) {
    const again = this.data && JSON.stringify(data) === JSON.stringify(this.data);
    this.data = data;
    this.screens = data.scenes.flatMap(screensOf);
    this.deck = this.find(".deck");
    this.speaks = location.hash === NOTES && Boolean(opener);
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.began ??= Date.now();
    this.wire();
    if (!again) this.alone = Boolean(data.alone) && !this.still && !this.speaks;
    this.paint(this.dark ?? this.dims());
    this.deck.classList.toggle("speaks", this.speaks);
    this.find(".says").textContent = data.says;
    if (!this.deck.open) this.deck.showModal();
    if (this.isLive && data.scenes[0].kind === "live") this.follow(data.scenes[0]);
    else if (!again) this.go(this.at, !this.speaks);
    if (this.speaks) this.ask();
  }

  wire() {
    removeEventListener("keydown", this.typed, true);
    addEventListener("keydown", this.typed, true);
    removeEventListener("message", this.told);
    addEventListener("message", this.told);
    this.deck.oncancel = (event) => { event.preventDefault(); this.leave(); };
    this.button("back").onclick = () => this.steer(this.at - 1);
    this.button("on").onclick = () => this.steer(this.at + 1);
    this.button("film").onclick = () => this.film(!this.alone);
    this.button("notes").onclick = () => this.openNotes();
    this.button("full").onclick = () => this.fill();
    this.button("leave").onclick = () => this.leave();
    this.button("notes").hidden = this.speaks;
    this.button("leave").hidden = this.speaks || !this.data.leave;
    const scene = this.find(".scene");
    scene.onclick = (event) => { if (!event.composedPath().some((element) => element.tagName === "BUTTON")) this.steer(this.at + (event.clientX < innerWidth / 5 ? -1 : 1)); };
    scene.ontouchstart = (event) => { this.touched = event.touches[0].clientX; };
    scene.ontouchend = (event) => {
      const moved = event.changedTouches[0].clientX - this.touched;
      if (Math.abs(moved) < 50) return;
      event.preventDefault();
      this.steer(this.at + (moved < 0 ? 1 : -1));
    };
    this.find(".keys button").onclick = () => this.find(".keys").close();
    this.find(".keys dl").replaceChildren();
    for (const [name, what] of Object.entries(this.data.keys)) {
      made("dt", "", name, this.find(".keys dl"));
      made("dd", "", what, this.find(".keys dl"));
    }
    if (!this.isTimed) this.find(".between").textContent = this.data.title; // the heading asks
    clearInterval(this.ticking);
    if (this.speaks) this.ticking = setInterval(() => this.tick(), 500);
    if (this.data.rehearses) this.ticking = setInterval(() => this.clock(), 500);
  }

  close() {
    removeEventListener("keydown", this.typed, true);
    removeEventListener("message", this.told);
    clearInterval(this.ticking);
    this.clear();
    this.deck?.close();
  }

  leave() {
    this.spend();
    if (document.fullscreenElement && !this.deck.classList.contains("ended")) document.exitFullscreen();
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
      Home: () => this.steer(0), End: () => this.steer(this.begins(this.data.scenes.length - 1)), f: () => this.fill(), n: () => this.openNotes(), r: () => this.go(this.at),
      p: () => this.isTimed && this.film(!this.alone),
      d: () => this.paint(!this.dark), b: () => this.black(!this.isBlack), Escape: () => this.leave(), "?": () => sheet.showModal(),
    }[event.key] ?? (/^[0-9]$/.test(event.key) ? () => this.steer(this.begins((Number(event.key) + 9) % 10)) : NEXT.includes(event.key) ? () => this.steer(this.at + 1) : BEFORE.includes(event.key) ? () => this.steer(this.at - 1) : null);
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
    other?.postMessage({ talk: this.data.id, at: this.at, began: this.began, entered: this.entered, black: this.isBlack }, "*");
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
    if (data.asks) return this.share();
    this.black(Boolean(data.black), false);
    if (data.at !== this.at) this.go(data.at, false);
    if (this.speaks) [this.began, this.entered] = [data.began, data.entered]; // the clocks go on
  }

  tick() {
    this.find(".hour").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    this.find(".here").textContent = this.isTimed ? this.here() : "";
    this.find(".elapsed").textContent = this.all();
  }

  // --- rehearsing

  // How long each scene was shown, for the film strip of the preparation.
  spend() {
    if (!this.data.rehearses || this.speaks) return;
    const { name } = this.screens[this.at], now = Date.now();
    this.spent ??= {};
    this.spent[name] = (this.spent[name] ?? 0) + (now - (this.since ?? now)) / 1000;
    this.since = now;
    localStorage.setItem(`frozenlab-rehearsed-${this.data.id}`, JSON.stringify(this.spent));
  }

  // --- the talk by itself

  // Where a scene begins; beyond the last one there is none.
  begins(place) {
    const at = this.screens.findIndex((screen) => screen.place === place);
    return at < 0 ? this.screens.length : at;
  }

  // Somebody takes over. A press too many leaves the last scene as it is.
  steer(to) {
    if (to >= this.screens.length) return;
    this.alone = false;
    this.go(to);
  }

  // Plays the talk by itself from here on, or stops that.
  film(on) {
    this.alone = on && !this.speaks;
    this.go(on && this.at === this.screens.length - 1 ? 0 : this.at);
  }

  // What a film offers at its end, where it has been seen: the room to try it or to see it again, the speaker to prepare a talk.
  end(ended) {
    if (ended) this.alone = false;
    this.deck.classList.toggle("ended", ended);
    const ways = this.find(".ways");
    ways.hidden = !ended;
    ways.replaceChildren();
    for (const [name, address] of Object.entries(ended ? this.data.ways : {})) made("a", "", name, ways).href = address;
    if (ended) made("button", "", "Again", ways).onclick = () => this.film(true);
    this.button("film").hidden = ended || !this.isTimed;
    this.button("leave").textContent = ended ? "Prepare a talk" : "Leave";
    this.button("film").setAttribute("aria-pressed", this.alone);
  }

  // The seconds in this scene and in all, while rehearsing.
  clock() {
    this.find(".between").textContent = `${this.here()} here, ${this.all()} in all`;
  }

  // The time since the talk began, of its minutes.
  all() {
    const passed = Math.max(0, Math.floor((Date.now() - this.began) / 1000));
    return `${Math.floor(passed / 60)}:${String(passed % 60).padStart(2, "0")}${this.isTimed ? ` of ${this.data.minutes}:00` : ""}`;
  }

  // A session that trains takes the time that it takes.
  get isTimed() {
    return this.data.scenes.some(({ seconds }) => seconds);
  }

  // The seconds in this scene, of those that it has in a talk of so many minutes.
  here() {
    const { scenes, minutes } = this.data, sum = scenes.reduce((all, scene) => all + scene.seconds, 0);
    return `${Math.round((Date.now() - this.entered) / 1000)} of ${Math.round((60 * minutes * scenes[this.screens[this.at].place].seconds) / sum)} s`;
  }

  // --- one scene

  go(to, share = true) {
    const { screens, data: { scenes, notes } } = this, before = this.at;
    this.spend();
    this.at = Math.max(0, Math.min(to, screens.length - 1));
    const scene = screens[this.at], stage = this.find(".scene");
    if (this.at === before || scene.place !== screens[before].place) this.entered = Date.now(); // its parts share the time of a scene
    this.clear();
    stage.classList.toggle("moving", !this.still && !this.speaks && scene.kind !== "live");
    this.draw(scene, stage);
    this.find(".count").textContent = `${scene.place + 1} / ${scenes.length}${scene.of}`;
    this.find(".line i").style.width = `${(100 * (scene.place + scene.to)) / scenes.length}%`;
    this.find(".now").textContent = scene.heading;
    this.speak(notes[scene.name] ?? drafted(scene, this.data.minutes), scene);
    const next = screens[this.at + 1];
    this.find(".next").textContent = next ? `Next: ${next.heading}${next.of}` : "This is the last scene.";
    if (this.speaks) this.preview(next);
    this.end(false);
    if (this.alone) this.timers.push(setTimeout(() => (next ? this.go(this.at + 1) : this.end(true)), 1000 * scene.seconds));
    if (share) this.share();
  }

  // What to say; where it has a line for each part of the scene, that of the part that is shown is bright.
  speak(text, { part, parts = [] }) {
    const place = this.find(".spoken"), lines = text.split(/\n+/), split = lines.length === parts.length;
    place.replaceChildren();
    for (const [i, line] of (split ? lines : [text]).entries()) made("span", split && i !== part ? "other" : "", line, place);
  }

  // The next scene, small, for the speaker.
  preview(scene) {
    const picture = this.find(".preview");
    picture.replaceChildren();
    if (scene) this.draw(scene, picture);
  }

  draw(scene, place) {
    if (scene.asks) made("p", "asks", scene.asks, place);
    const heading = made(place.matches(".preview") ? "div" : "h1", "heading", scene.heading, place); // a page has one heading of the first level
    const body = made("div", `body ${scene.kind}${scene.small ? " small" : ""}`, undefined, place);
    const note = made("p", "note", scene.note, place); // first, as a picture takes the height that is left
    this[scene.kind](scene, body);
    if (scene.question && place.matches(".moving")) this.wonder(scene.question, heading, body);
    if (scene.kind === "boards" && scene.boards.length === 1 && scene.boards[0].tracks?.length === 1) this.besideBoard(body, heading, note);
  }

  // The heading asks until the last part of the picture comes, and keeps the height of its answer.
  wonder(question, heading, body) {
    const answer = heading.textContent;
    heading.style.minHeight = `${heading.offsetHeight}px`;
    heading.textContent = question;
    body.querySelector("g:last-of-type").onanimationstart = () => { heading.textContent = answer; };
  }

  clear() {
    this.isLive = false;
    for (const player of this.players) player.close();
    for (const timer of this.timers) clearTimeout(timer);
    [this.players, this.timers] = [[], []];
    this.find(".scene").replaceChildren();
  }

  later(ms, act) {
    if (this.still || this.speaks) act();
    else this.timers.push(setTimeout(act, ms));
  }

  // figures: what was won in each comparison; without any, the two numbers are large. boards: one that is solved; qr: of it, to play;
  // checks: with the curve that led to the numbers.
  numbers({ figures = [], axis, before, after, what, boards = [], about, qr, address, checks, ...learned }, body) {
    const list = made("div", figures.length ? "figures" : "", undefined, body);
    if (figures.length) this.intervals(figures, axis, list);
    else if (before) {
      made("b", "", before, list);
      made("b", "", after, list);
      made("p", "", what, list);
    }
    if (checks) this.curve({ checks, ...learned }, made("div", "curve", undefined, body));
    if (!qr && !boards.length) return;
    body.classList.add("beside");
    const aside = made("div", "aside", undefined, body);
    for (const board of boards) {
      const place = made("div", "", undefined, aside);
      made("p", "", about, place);
      this.put(board, made("div", "", undefined, place));
    }
    if (!qr) return;
    const code = made("div", "", undefined, aside);
    made("p", "", "Play this board", code);
    made("img", "", undefined, code).src = qr;
    code.lastChild.alt = `QR code of ${address}`;
  }

  // Differences with their intervals on one axis, and what its zero and its two sides mean.
  intervals(figures, axis, list) {
    const ends = figures.flatMap(({ low, high }) => [low, high]).concat(0);
    const room = Math.max(0.01, 0.28 * (Math.max(...ends) - Math.min(...ends))); // for the words beside zero
    const [from, to] = [Math.min(-room, ...ends) - room / 9, Math.max(room, ...ends) + room / 9];
    const x = (change) => `${(100 * (change - from)) / (to - from)}%`;
    list.style.setProperty("--zero", x(0));
    for (const { value, bounds, clear, what, says, came, low, high } of figures) {
      const place = made("div", clear ? "clear" : "", undefined, list);
      const won = made("p", "", undefined, place);
      made("b", "", value, won);
      made("span", "", ` points (${bounds})`, won);
      const words = made("p", "", says ? `${what}: ` : what, place);
      if (says) made("strong", "", says, words);
      const interval = made("div", "interval", undefined, place);
      const range = made("i", "", undefined, interval);
      [range.style.left, range.style.width] = [x(low), `calc(${x(high)} - ${x(low)})`];
      made("u", "", undefined, interval).style.left = x(came);
    }
    const sides = made("div", "sides", undefined, made("div", "", undefined, list));
    for (const side of axis) made("small", "", side, sides);
  }

  boards({ boards }, body) {
    for (const board of boards) this.put(board, made("div", "", undefined, body));
  }

  put(board, place) {
    if (board.texts) return this.texts(board.texts, place);
    place.replaceChildren(this.find("template.player").content.cloneNode(true));
    const player = new Player(place);
    player.heat = false; // of the first fault the caption speaks, and a room has no time for the others
    this.players.push(player);
    player.show({ ...board, height: 2000, loop: true, autoplay: !this.speaks });
  }

  // Plans for one board: where one ends, it lights up or says what is wrong, and gets its score; after the last come their average and the arrows.
  tries({ boards, good, scores, average }, body) {
    const margin = Math.max(...boards.map((board) => board.margin)); // all at one scale
    const best = Math.max(1, ...scores.map(({ part }) => part));
    this.boards({ boards: boards.map((board, i) => ({ ...board, margin, once: true, tracks: board.tracks?.map((track) => ({ ...track, caption: good[i] ? scores[i].why : track.badge })) })) }, body);
    const places = [...body.children];
    for (const [i, { label, part, likelier }] of scores.entries()) {
      places[i].classList.add(good[i] ? "good" : "bad");
      const score = made("div", `score${likelier ? " likelier" : ""}`, undefined, places[i]);
      made("small", "", "score", score);
      made("b", "", label, score);
      made("span", "", likelier ? "↑" : "↓", score);
      const gauge = made("i", "", undefined, score);
      gauge.style.setProperty("--part", Math.max(0, part) / best);
      gauge.style.setProperty("--average", Math.max(0, average) / best);
    }
  }

  // boards: one that failed, beside the bars.
  bars({ rows, boards = [] }, body) {
    const list = made("dl", "rates", undefined, body);
    for (const { name, part, label, marked, after = 300 } of rows) {
      const row = [made("dt", marked ? "marked" : "", name, list), made("dd", "track", undefined, list), made("dd", marked ? "marked" : "", label, list)];
      const bar = made("i", marked ? "marked" : "", undefined, row[1]);
      this.later(after, () => {
        bar.style.width = `${100 * part}%`;
        for (const place of row) place.classList.add("read");
      });
    }
    body.classList.toggle("beside", boards.length > 0);
    this.boards({ boards }, body);
  }

  // Lines, with **bold** and lists; a link to a board of Play is that board.
  words({ text, boards = [] }, body) {
    const words = made("div", "", undefined, body);
    let list;
    for (const line of text.split("\n")) {
      if (boards.length && /[?&]board=/.test(line)) continue;
      const isItem = line.startsWith("- ");
      list = isItem ? list ?? made("ul", "", undefined, words) : undefined;
      const place = made(isItem ? "li" : "p", "", "", list ?? words);
      for (const [n, part] of line.replace(/^- /, "").split("**").entries()) made(n % 2 ? "strong" : "span", "", part, place);
    }
    body.classList.toggle("beside", boards.length > 0);
    this.boards({ boards }, body);
  }

  // A session that trains: its newest plan and its curve, which follow it.
  live(scene, body) {
    [this.isLive, this.redesigns, this.wrote] = [true, false, undefined];
    this.sentence = made("p", "sentence", "", body);
    this.board = made("div", "newest", undefined, body);
    this.graph = made("div", "curve", undefined, body);
    this.follow(scene);
  }

  // What has just been written stands in the place of the plan for a while.
  follow({ boards, wrote, sentence, ...learned }) {
    this.newest = boards;
    if (wrote && this.wrote !== undefined && this.wrote !== wrote.summary) this.redesign(wrote);
    else if (!this.redesigns) this.play(boards);
    this.wrote = wrote?.summary ?? "";
    this.graph.replaceChildren();
    this.curve(learned, this.graph);
    this.sentence.textContent = sentence;
  }

  redesign(wrote) {
    this.redesigns = true;
    for (const player of this.players.splice(0)) player.close();
    this.board.replaceChildren();
    this.writing({ ...wrote, claims: [], was: [], boards: [] }, made("div", "writing", undefined, this.board));
    this.timers.push(setTimeout(() => {
      this.redesigns = false;
      this.board.replaceChildren();
      this.play(this.newest);
    }, WRITTEN));
  }

  play(boards) {
    if (!boards.length) return;
    // Of a plan that holds, and of half a plan, the badge says enough; the line below is for what went wrong.
    const board = { ...boards[0], tracks: boards[0].tracks?.map((track) => ({ ...track, last_words: "", caption: track.fault ? track.caption : "" })) };
    const [player] = this.players;
    if (player) player.show({ ...board, height: 2000, loop: true, autoplay: true });
    else this.put(board, this.board);
  }

  // A line of evidence, what it says as bars, which grow as each phrase lights up, and the claim to which its number flies.
  quote({ id, text, rows, claim }, body) {
    const said = made("p", "evidence", undefined, body);
    const badge = made("b", "cite", id, said);
    const read = rows.filter((row) => row.phrase).sort((a, b) => text.indexOf(a.phrase) - text.indexOf(b.phrase));
    const turn = new Map(read.map((row, i) => [row, READ * (i + 1)]));
    let end = 0;
    for (const row of read) {
      const from = text.indexOf(row.phrase);
      made("span", "", text.slice(end, from), said);
      const phrase = made("span", row.marked ? "phrase marked" : "phrase", row.phrase, said);
      this.later(turn.get(row), () => phrase.classList.add("lit"));
      end = from + row.phrase.length;
    }
    made("span", "", text.slice(end), said);
    if (rows.length) this.bars({ rows: rows.map((row) => ({ ...row, after: turn.get(row) ?? READ * (read.length + 1) })) }, body);
    if (!claim) return;
    const claimed = made("p", "claimed", undefined, body);
    const cited = made("b", "cite", id, claimed);
    made("span", "", `→ ${claim}`, claimed);
    this.later(READ * (read.length + 2), () => {
      claimed.classList.add("lit");
      if (this.still || this.speaks) return;
      const [here, there] = [badge, cited].map((place) => place.getBoundingClientRect());
      cited.animate([{ transform: `translate(${here.x - there.x}px, ${here.y - there.y}px)` }, { transform: "none" }], { duration: 1200, easing: "ease-in-out" });
    });
  }

  // A single board takes the whole height: the words stand beside it.
  besideBoard(body, heading, note) {
    const figure = body.querySelector("figure");
    body.classList.add("alone");
    figure.prepend(heading);
    const clock = this.players[0]?.find(".clock");
    if (clock) figure.append(clock);
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

  // An SVG as large as its place, in pixels, and the size of its letters, which scale with the picture when the window does.
  graphic(label, body) {
    const svg = drawn("svg", { role: "img", "aria-label": label }, body);
    const { clientWidth: wide, clientHeight: high } = svg; // a preview is scaled
    const { fontSize } = getComputedStyle(svg);
    svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    svg.style.setProperty("--size", fontSize);
    return { svg, wide, high, size: parseFloat(fontSize) };
  }

  // marks: where the config changed; ahead: what to say of the stages to come; answer: a line below. Once there are none to come, the axis
  // leaves no room above.
  curve({ steps, checks, total, marks = [], ahead = "", answer = "" }, body) {
    if (answer) made("p", "answer", answer, body); // first, as the picture takes the height that is left
    body.classList.toggle("redesigned", marks.length > 0);
    const { svg, wide, high, size } = this.graphic(spoken(checks), body);
    const [axis, left, low, top, right] = [3.2 * size, 4.5 * size, 1.8 * size, (marks.length ? 2.9 : 2.2) * size, (checks.some(({ at }) => at === total) ? 4.2 : 2) * size];
    const found = [...checks.flatMap((check) => [check.low, check.high]), ...steps.map(([, rate]) => rate)];
    const [lowest, highest] = found.length ? [Math.min(...found), Math.max(...found)] : [0, 1];
    const reached = Math.max(0, ...checks.map(({ at }) => at), ...steps.map(([at]) => at)), open = reached < total;
    const step = (open ? [0.1] : [0.02, 0.05, 0.1]).find((width) => ((open ? 1 : highest) - lowest) / width < 7) ?? 0.2;
    const least = Math.floor(lowest / step) * step, most = open ? 1 : Math.ceil(highest / step) * step;
    const x = (at) => left + ((wide - left - right) * at) / Math.max(total, 1), y = (rate) => top + ((high - top - low) * (most - rate)) / (most - least);
    this.levels(svg, { least, most, step, y, from: axis, to: wide - right, size });
    drawn("text", { class: "tick", x: wide - right, y: high - size / 3, "text-anchor": "end" }, svg, `${total} training steps`);
    if (open && ahead) {
      const room = x(total) - x(reached), last = checks.at(-1)?.rate;
      const clear = last === undefined ? 1 / 2 : last < (least + most) / 2 ? 1 / 6 : 5 / 6; // of the last point
      drawn("rect", { class: "ahead", x: x(reached), y: top, width: room, height: high - low - top }, svg);
      if (room > (size * ahead.length) / 2.2) drawn("text", { class: "tick", x: (x(reached) + x(total)) / 2, y: top + clear * (high - low - top), "text-anchor": "middle" }, svg, ahead);
    }
    this.changes(svg, marks, { x, top, foot: high - low });
    const apart = x(checks[1]?.at ?? total) - left; // words of neighbours must not meet
    for (const at of apart > 4 * size ? marks : marks.slice(0, 1)) drawn("text", { class: "tick", x: x(at), y: top - 0.45 * size, "text-anchor": "middle" }, svg, "new mix");
    const thick = Math.min(0.2, Math.max(0.1, (x(1) - x(0)) / (2 * size))); // many steps need a thin line
    for (const [i, end] of [...marks, total].entries()) { // other boards than before are another line
      const part = steps.filter(([at]) => at > (marks[i - 1] ?? 0) && at <= end), points = part.map(([at, rate]) => `${x(at)},${y(rate)}`).join(" ");
      if (points) drawn("polyline", { class: "steps", pathLength: 1, points, style: `--thick: ${thick}; --at: ${part[0][0] / total}; --part: ${part.length / total}` }, svg);
    }
    for (const { at, rate, low: least95, high: most95, label } of checks) {
      const group = drawn("g", { class: "own", style: `--at: ${at / Math.max(total, 1)}` }, svg);
      drawn("line", { class: "range", x1: x(at), x2: x(at), y1: y(least95), y2: y(most95) }, group);
      drawn("circle", { class: "check", cx: x(at), cy: y(rate), r: size / 3 }, group);
      if (apart < 4 * size && at && at !== checks.at(-1).at) continue;
      const met = (side) => steps.some(([step, valid]) => Math.abs(x(step) - x(at) - 2 * side * size) < 2 * size && Math.abs(y(valid) - y(rate)) < 0.6 * size);
      const side = at && met(1) && !met(-1) ? -1 : 1; // clear of the line
      const near = steps.filter(([step]) => x(step) > x(at) && x(step) < x(at) + 4.5 * size).map(([, valid]) => valid);
      const place = side > 0 && met(1) ? y(Math.min(least95, ...near)) + 1.1 * size : y(rate) + 0.35 * size; // below the line, where neither side is
      drawn("text", { x: x(at) + (side * size) / 2, y: place, "text-anchor": side < 0 ? "end" : "start" }, group, label);
    }
  }

  // The lines of a scale of rates.
  levels(svg, { least, most, step, y, from, to, size }) {
    for (let rate = least; rate < most + 1e-9; rate += step) {
      drawn("line", { class: "grid", x1: from, x2: to, y1: y(rate), y2: y(rate) }, svg);
      drawn("text", { class: "tick", x: from - size / 2, y: y(rate) + size / 3, "text-anchor": "end" }, svg, percent(rate));
    }
    drawn("text", { class: "tick", x: 0, y: size }, svg, `boards solved${least > 0 ? ` (the axis begins at ${percent(least)})` : ""}`);
  }

  // Where the config changed.
  changes(svg, marks, { x, top, foot }) {
    for (const at of marks) drawn("line", { class: "mark", x1: x(at), x2: x(at), y1: top, y2: foot }, svg);
  }

  // A session and its twin where they were measured; at the right, their difference at the end with its interval, at the same scale: its
  // zero is where the twin ends.
  twins({ checks, other: { checks: other }, names, gain, total, marks, answer }, body) {
    const legend = made("p", "legend", undefined, body);
    made("p", "answer", answer, body);
    const { svg, wide, high, size } = this.graphic(`${names[0]}: ${spoken(checks)}; ${names[1]}: ${spoken(other)}; difference ${gain.label}`, body);
    const named = wide > 30 * size; // narrow screens have no room for names beside the lines
    if (!named) for (const [i, look] of ["own", "twin"].entries()) made("span", look, `${"●○"[i]} ${names[i]}`, legend);
    const [axis, left, low, top, right] = [3.2 * size, (named ? 4.5 : 4) * size, 1.8 * size, 2.6 * size, (named ? 20 : 5.9) * size];
    const zero = other.at(-1).rate, all = [...checks, ...other].map(({ rate }) => rate).concat(zero + gain.low, zero + gain.high);
    const step = [0.02, 0.05].find((width) => (Math.max(...all) - Math.min(...all)) / width < 7) ?? 0.1;
    const [least, most] = [Math.floor(Math.min(...all) / step - 0.2) * step, Math.ceil(Math.max(...all) / step) * step];
    const end = wide - right, bar = end + (named ? 13 : 1.6) * size;
    const x = (at) => left + ((end - left) * at) / Math.max(total, 1), y = (rate) => top + ((high - top - low) * (most - rate)) / (most - least);
    this.levels(svg, { least, most, step, y, from: axis, to: end, size });
    this.changes(svg, marks, { x, top, foot: high - low });
    for (const at of named ? marks : []) drawn("text", { class: "tick", x: x(at) + size / 3, y: high - low - size / 3 }, svg, "new mix");
    for (const { at, name } of checks) drawn("text", { class: "tick", x: x(at), y: high - size / 3, "text-anchor": "middle" }, svg, named ? name : name.replace("stage ", ""));
    const above = gain.value >= 0;
    for (const [look, found, i] of [["twin", other, 1], ["own", checks, 0]]) {
      const up = above === (look === "own"), last = found.at(-1), beside = y(last.rate) + (up ? -0.8 : 1.5) * size;
      drawn("polyline", { class: `path ${look}`, pathLength: 1, points: found.map(({ at, rate }) => `${x(at)},${y(rate)}`).join(" ") }, svg);
      for (const { at, rate, label } of found) {
        const group = drawn("g", { class: look, style: `--at: ${at / Math.max(total, 1)}` }, svg);
        drawn("circle", { class: "check", cx: x(at), cy: y(rate), r: size / 2.4 }, group);
        if (!at && look === "own") drawn("text", { x: x(at) + 0.7 * size, y: y(rate) + 0.8 * size }, group, label);
        if (at !== last.at) continue;
        if (!named) drawn("text", { x: end + 0.6 * size, y: beside, "text-anchor": "end" }, group, label);
        else for (const [n, line] of [names[i], label].entries()) drawn("text", { x: end + 0.7 * size, y: y(last.rate) + (1.15 * n + (up ? -1.4 : 1)) * size }, group, line);
      }
    }
    const difference = drawn("g", { class: `difference${gain.clear ? "" : " unclear"}`, style: "--at: 1.1" }, svg);
    drawn("line", { class: "zero", x1: x(total), x2: bar + size / 2, y1: y(zero), y2: y(zero) }, difference);
    if (named) drawn("text", { class: "tick", x: bar - size / 2, y: y(zero) + 1.2 * size, "text-anchor": "end" }, difference, "no difference");
    drawn("line", { class: "range", x1: bar, x2: bar, y1: y(zero + gain.low), y2: y(zero + gain.high) }, difference);
    drawn("circle", { class: "check", cx: bar, cy: y(zero + gain.value), r: size / 2 }, difference);
    drawn("text", { class: "won", x: bar + size, y: y(zero + gain.value) + 0.7 * size }, difference, gain.label);
    for (const [i, bound] of [gain.low, gain.high].entries()) drawn("text", { class: "tick", x: bar + size / 2, y: y(zero + bound) + (i ? 0 : 0.7) * size }, difference, gain.ends[i]);
    drawn("text", { class: "tick", x: bar + size / 2, y: y(zero + gain.low) + 1.9 * size }, difference, "points");
  }

  writing({ summary, claims, knobs, was, boards, mixes }, body) {
    const brief = was.length > 0 && boards.length > 0 && !boards[0].texts && [summary, ...claims].join(" ").length < BRIEF;
    body.classList.toggle("brief", brief);
    const left = made("div", "left", undefined, body);
    const words = made("blockquote", "", undefined, left);
    const ends = []; // of the lines
    let turn = 0;
    for (const [n, text] of [summary, ...claims].entries()) {
      const line = made("p", n ? "" : "summary", undefined, words);
      for (const word of text.split(" ")) {
        const span = made("span", "word", `${word} `, line);
        this.later(WORD * ++turn, () => span.classList.add("said"));
      }
      ends.push(turn);
    }
    const list = made("dl", "knobs", undefined, brief ? left : body);
    const most = Math.ceil(10 * Math.max(...knobs.flatMap(({ before, after }) => [before, after])) - 1e-9) / 10; // the end of all bars
    for (const [i, { cell, knob, before, after, line, failed }] of knobs.entries()) {
      if (knob !== knobs[i - 1]?.knob) {
        if (failed) made("dt", "failing", "still fail", list);
        made("dt", "knob", knob, list);
      }
      made("dt", "", cell, list);
      made("dd", "failed", failed, list);
      const track = made("dd", "track", undefined, list);
      const bar = made("i", "", undefined, track);
      made("b", "", undefined, track).style.left = `${(100 * before) / most}%`;
      const value = made("dd", "value", percent(before), list);
      bar.style.width = `${(100 * before) / most}%`;
      this.later(WORD * ends[line] + 400, () => this.moves(before, after, (at) => {
        bar.style.width = `${(100 * at) / most}%`;
        value.textContent = `${percent(before)} → ${percent(at)}`;
      }));
    }
    const last = knobs.at(-1);
    if (last) {
      const scale = made("dd", "was", undefined, list);
      made("small", "", "before", scale).style.left = `${(100 * last.before) / most}%`;
      if (most - last.before > most / 3) made("small", "", percent(most), scale).style.left = "100%";
    }
    if (!was.length || !boards.length) return;
    this.wall([was, boards], made("p", "mix", "", brief ? body : left), mixes, WORD * ends[0] + 1200, body);
  }

  // Shows a share on its way, so that a bar and its figure move as one.
  moves(from, to, show) {
    if (this.still || this.speaks) return show(to);
    const began = performance.now();
    const step = (now) => {
      const part = Math.min(Math.max((now - began) / MOVES, 0), 1);
      show(from + (to - from) * part * part * (3 - 2 * part));
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // The boards of a stage; after some milliseconds those of the next fall into their places, one after the other.
  wall(stages, mix, mixes, wait, body) {
    const [was, now] = stages.map((boards) => boards.map(standing));
    const ends = this.still || this.speaks; // at the end, at once
    mix.textContent = mixes[ends ? 1 : 0];
    const wall = made("div", "wall", undefined, body);
    this.boards({ boards: ends ? now : was }, wall);
    if (ends) return;
    const places = [...wall.children];
    for (let i = 0; i < Math.max(was.length, now.length); i++) {
      this.later(wait + FALLS * i, () => {
        if (!i) mix.textContent = mixes[1];
        if (!now[i]) return places[i].remove();
        const place = places[i] ?? made("div", "", undefined, wall);
        this.put(now[i], place);
        place.classList.add("new");
      });
    }
  }

  // How much more each of many models solves after the one training than after the other, a row a model, and their mean on the same axis; the
  // parts before show what their tutor does, and both plans of one of them.
  pairs({ rows, mean, boards, about, lead, axis, lesson, shows }, body) {
    made("p", "lead", lead, body);
    const place = made("div", shows, undefined, body);
    if (shows === "lesson") return this.lesson(lesson, place);
    if (shows === "duo") {
      made("p", "", about, place);
      return this.boards({ boards }, place);
    }
    const says = `${axis}: ${rows.map((change) => inPoints(change)).join(", ")}; ${mean.what} ${mean.value} (${mean.bounds})`;
    const { svg, wide, high, size } = this.graphic(says, place);
    const [top, band] = [1.6 * size, 3.2 * size], foot = high - 1.8 * size;
    const x = this.points(svg, { ends: [...rows, mean.low, mean.high], from: 0, to: wide, top, foot, size });
    drawn("text", { class: "tick", x: 0, y: size }, svg, axis);
    for (const [i, change] of rows.entries()) {
      const y = top + ((rows.length - i - 0.5) * (foot - band - top)) / rows.length;
      const group = drawn("g", { class: change > 0 ? "more" : "", style: `--at: ${i / rows.length}` }, svg);
      drawn("line", { x1: x(0), x2: x(change), y1: y, y2: y }, group);
      drawn("circle", { cx: x(change), cy: y, r: size / 3 }, group);
    }
    const all = drawn("g", { class: mean.clear && mean.came > 0 ? "mean more" : "mean", style: "--at: 1.2" }, svg), y = foot - band / 2;
    drawn("text", { x: 0, y: y + 0.35 * size }, all, mean.what);
    drawn("line", { x1: x(mean.low), x2: x(mean.high), y1: y, y2: y }, all);
    drawn("circle", { cx: x(mean.came), cy: y, r: size / 2 }, all);
    const won = drawn("text", { x: x(mean.high) + size, y: y + 0.2 * size }, all);
    drawn("tspan", { class: "won" }, won, mean.value);
    drawn("tspan", {}, won, " points");
    drawn("text", { x: x(mean.high) + size, y: y + 1.4 * size }, all, `(${mean.bounds})`);
  }

  // Kinds of boards: how many are solved, a mark at what is usual, and the share of the boards that the tutor's rule gives each.
  lesson({ about, kinds }, place) {
    made("p", "", about, place);
    for (const { name, board, now, usual, before, after } of kinds) {
      const kind = made("div", after > before ? "fallen" : "", undefined, place);
      made("p", "", name, kind);
      this.put(standing(board), made("div", "picture", undefined, kind));
      const bar = (mark) => {
        const track = made("div", "track", undefined, kind), filled = made("i", "", undefined, track);
        made("b", "", undefined, track).style.left = `${100 * mark}%`;
        return filled;
      };
      made("p", "", `solved ${percent(now)}, usually ${percent(usual)}`, kind);
      bar(usual).style.width = `${100 * now}%`;
      const says = made("p", "share", "", kind), given = bar(before);
      given.style.width = `${100 * before}%`;
      says.textContent = `share of boards ${percent(before)}`;
      this.later(FALLEN, () => this.moves(before, after, (at) => {
        given.style.width = `${100 * at}%`;
        says.textContent = `share of boards ${percent(before)} → ${percent(at)}`;
      }));
    }
  }

  // An axis of changes in points, with zero, that has room for all ends; returns the place of a change.
  points(svg, { ends, from, to, top, foot, size }) {
    const [least, most] = [Math.min(0, ...ends) - 0.01, Math.max(0, ...ends) + 0.01];
    const x = (change) => from + ((to - from) * (change - least)) / (most - least);
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((width) => (most - least) / width < 7) ?? 1;
    for (let n = Math.ceil(least / step); n * step <= most; n++) {
      drawn("line", { class: n ? "grid" : "zero", x1: x(n * step), x2: x(n * step), y1: top, y2: foot }, svg);
      drawn("text", { class: "tick", x: x(n * step), y: foot + 1.5 * size, "text-anchor": "middle" }, svg, inPoints(n * step, 0));
    }
    return x;
  }

  // What was predicted (hollow) and what came, with its interval, a row a cell.
  outcomes({ rows, answer }, body) {
    const said = rows.map(({ name, predicted, label }) => `${name}: predicted ${inPoints(predicted)}, came ${label}`).join("; ");
    const { svg, wide, high, size } = this.graphic(said, body);
    const [left, right, low] = [5 * size, 4 * size, 1.8 * size];
    const ends = rows.flatMap(({ predicted, low: least, high: most }) => [predicted, least, most]);
    const x = this.points(svg, { ends, from: left, to: wide - right, top: 0, foot: high - low, size });
    for (const [i, { name, predicted, came, low: least, high: most, label }] of rows.entries()) {
      const y = ((i + 0.5) * (high - low)) / rows.length;
      drawn("text", { x: 0, y: y + size / 3 }, svg, name);
      drawn("line", { class: "range", x1: x(least), x2: x(most), y1: y, y2: y }, svg);
      drawn("circle", { class: "check", cx: x(came), cy: y, r: size / 3 }, svg);
      drawn("circle", { class: "said", cx: x(predicted), cy: y, r: size / 2.2 }, svg);
      drawn("text", { x: wide, y: y + size / 3, "text-anchor": "end" }, svg, label);
    }
    made("p", "answer", answer, body);
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
      "--st-primary-color": colors.accent, "--st-green-text-color": colors.good, "--fl-muted": colors.muted,
      "--ink": colors.text, "--accent": colors.accent, "--fault": colors.accent, "--choice": colors.blue, "--ground": colors.ground, "--surface": colors.surface, "--line": colors.line,
    };
    for (const [name, value] of Object.entries(told)) this.deck.style.setProperty(name, value);
    this.deck.closest("body")?.style.setProperty("background", colors.ground); // of the file; in the app the page behind has its own
    for (const player of this.players) player.layout();
  }
}
