// The film strip: the scenes of a talk as pictures, to order and to leave out, each with what to say.
// data: {id, scenes: [scene], shown: [name], notes: {name: text}, minutes, cuts: {minutes: [name]}, fixed, colors};
// sends prepared = {scenes, notes, minutes, own}.

const strips = new WeakMap();

// A scene as a picture that stands still.
class Picture extends Deck {
  constructor(root, colors) {
    super(root);
    this.still = this.speaks = true;
    this.deck = root.querySelector(".deck");
    this.data = { colors };
  }

  snap(scene) {
    for (const player of this.players) player.close();
    this.players = [];
    this.paint(this.dims());
    this.preview(screensOf(scene).at(-1));
  }
}

class Strip {
  constructor(root) {
    this.root = root;
    this.list = root.querySelector("ol");
    this.resized = new ResizeObserver(() => this.fit());
  }

  show(data) {
    const signature = JSON.stringify([data.id, data.scenes.filter(({ kind }) => kind !== "words"), data.fixed]);
    if (signature === this.signature) return; // what was sent comes back: the reader goes on writing
    this.signature = signature;
    this.data = data;
    this.minutes = data.minutes;
    this.close();
    const left = data.scenes.map(({ name }) => name).filter((name) => !data.shown.includes(name));
    const byName = new Map(data.scenes.map((scene) => [scene.name, scene]));
    this.cards = [...data.shown, ...left].filter((name) => byName.has(name)).map((name) => this.card(byName.get(name), data.shown.includes(name), data.notes[name]));
    this.list.replaceChildren(...this.cards.map(({ element }) => element));
    this.cuts();
    this.resized.disconnect();
    this.resized.observe(this.list);
    this.fit();
    for (const { picture, scene } of this.cards) picture.snap(scene);
    this.tell();
  }

  close() {
    for (const { picture } of this.cards ?? []) for (const player of picture.players) player.close();
  }

  card(scene, shown, note) {
    const element = this.root.querySelector("template.card").content.firstElementChild.cloneNode(true);
    const find = (selector) => element.querySelector(selector);
    element.append(this.root.querySelector("template.player").cloneNode(true)); // the picture looks for it in its own card
    const card = { scene, element, find, picture: new Picture(element, this.data.colors) };
    find(".title").textContent = scene.title;
    find(".shown").checked = shown;
    find(".say").value = note ?? drafted(scene, this.minutes);
    find(".say").setAttribute("aria-label", `What to say: ${scene.title}`);
    if (scene.kind === "words") this.own(card);
    for (const field of element.querySelectorAll("input, textarea, button")) field.disabled = this.data.fixed;
    find(".shown").onchange = () => this.tell(true);
    find(".say").oninput = () => this.tell("soon");
    find(".earlier").onclick = () => this.move(card, -1);
    find(".later").onclick = () => this.move(card, 1);
    this.drag(card);
    return card;
  }

  // A scene of the speaker's own: its words are written here.
  own(card) {
    const { element, find, scene, picture } = card;
    for (const part of element.querySelectorAll("[hidden]")) part.hidden = false;
    find(".title").hidden = true;
    find(".shown").setAttribute("aria-label", scene.title);
    for (const name of ["heading", "text"]) {
      const field = find(`.${name}`);
      field.value = scene[name];
      field.setAttribute("aria-label", name === "heading" ? "Heading of your scene" : "Text of your scene");
      field.oninput = () => {
        card.scene = { ...card.scene, [name]: field.value };
        picture.snap(card.scene);
        this.tell("soon");
      };
    }
    find(".remove").onclick = () => {
      this.cards = this.cards.filter((other) => other !== card);
      card.element.remove();
      this.tell(true);
    };
  }

  move(card, by) {
    const from = this.cards.indexOf(card), to = from + by;
    if (to < 0 || to >= this.cards.length) return;
    this.cards.splice(to, 0, ...this.cards.splice(from, 1));
    this.arrange();
    card.find(by < 0 ? ".earlier" : ".later").focus();
  }

  arrange() {
    this.list.append(...this.cards.map(({ element }) => element));
    this.tell(true);
  }

  drag(card) {
    const frame = card.find(".frame");
    frame.draggable = !this.data.fixed;
    frame.ondragstart = (event) => {
      this.dragged = card;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", card.scene.name);
      card.element.classList.add("dragged");
    };
    frame.ondragend = () => {
      this.dragged = null;
      for (const { element } of this.cards) element.classList.remove("dragged", "target");
    };
    card.element.ondragover = (event) => {
      if (!this.dragged) return;
      event.preventDefault();
      for (const other of this.cards) other.element.classList.toggle("target", other === card && other !== this.dragged);
    };
    card.element.ondrop = (event) => {
      event.preventDefault();
      if (!this.dragged || this.dragged === card) return;
      const to = this.cards.indexOf(card);
      this.cards.splice(this.cards.indexOf(this.dragged), 1);
      this.cards.splice(to, 0, this.dragged);
      this.arrange();
    };
  }

  // Whether what is to say is the speaker's own and no draft.
  isOwn({ scene, find }) {
    return find(".say").value !== drafted(scene, this.minutes);
  }

  // A scene of the speaker's own without words is not shown.
  isEmpty({ scene: { kind, heading, text } }) {
    return kind === "words" && !`${heading}${text}`.trim();
  }

  // Ready-made lengths, a scene of one's own, and how long the talk takes.
  cuts() {
    const bar = this.root.querySelector(".cuts");
    bar.replaceChildren();
    for (const [minutes, names] of Object.entries(this.data.cuts)) {
      const button = made("button", "cut", `${minutes} minutes`, bar);
      button.value = minutes;
      button.onclick = () => {
        const drafts = this.cards.filter((card) => !this.isOwn(card));
        this.minutes = Number(minutes);
        for (const { scene, find } of drafts) find(".say").value = drafted(scene, this.minutes);
        const place = (card) => (names.includes(card.scene.name) ? names.indexOf(card.scene.name) : names.length);
        for (const card of this.cards) card.find(".shown").checked = names.includes(card.scene.name);
        this.cards.sort((a, b) => place(a) - place(b));
        this.arrange();
      };
    }
    made("button", "add", "Add words of your own", bar).onclick = () => {
      const taken = new Set(this.cards.map(({ scene }) => scene.name));
      const name = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `own-${number}`).find((one) => !taken.has(one));
      if (!name) return;
      const card = this.card({ name, title: "Your own scene", kind: "words", seconds: 12, heading: "", text: "", note: "", say: "" }, true, "");
      const closing = this.cards.findIndex(({ scene }) => scene.name === "closing");
      this.cards.splice(closing < 0 ? this.cards.length : closing, 0, card);
      this.arrange();
      this.fit();
      card.picture.snap(card.scene);
      card.element.scrollIntoView({ block: "center" });
      card.find("input.heading").focus({ preventScroll: true }); // the picture has a heading too
    };
    for (const button of bar.children) button.disabled = this.data.fixed;
    made("output", "", "", bar);
  }

  // Tells the reader how the minutes are shared out and, if asked to, the server what was decided; "soon": once nobody types.
  tell(send = false) {
    const rehearsed = JSON.parse(localStorage.getItem(`frozenlab-rehearsed-${this.data.id}`) ?? "{}");
    const ticked = this.cards.filter(({ find }) => find(".shown").checked), shown = ticked.filter((card) => !this.isEmpty(card));
    const all = shown.reduce((sum, { scene }) => sum + scene.seconds, 0);
    for (const card of this.cards) {
      card.element.classList.toggle("left-out", !shown.includes(card));
      const took = rehearsed[card.scene.name];
      const planned = shown.includes(card) ? `${Math.round((60 * this.minutes * card.scene.seconds) / all)} s` : ticked.includes(card) ? "empty: not shown" : "";
      card.find(".time").textContent = planned + (took ? ` (took ${Math.round(took)} s)` : "");
    }
    this.root.querySelector(".cuts output").textContent = `${shown.length} scene${shown.length === 1 ? "" : "s"} in ${this.minutes} minutes`;
    const names = ticked.map(({ scene }) => scene.name), known = this.cards.map(({ scene }) => scene.name);
    for (const button of this.root.querySelectorAll(".cut")) {
      const cut = this.data.cuts[button.value].filter((name) => known.includes(name));
      button.setAttribute("aria-pressed", Number(button.value) === this.minutes && `${cut}` === `${names}`);
    }
    clearTimeout(this.waiting);
    if (send === "soon") this.waiting = setTimeout(() => this.tell(true), 700);
    if (send !== true) return;
    const own = this.cards.filter(({ scene }) => scene.kind === "words");
    this.send({
      minutes: this.minutes,
      scenes: names,
      notes: Object.fromEntries(this.cards.filter((card) => this.isOwn(card)).map(({ scene, find }) => [scene.name, find(".say").value])),
      own: Object.fromEntries(own.map(({ scene: { name, heading, text } }) => [name, { heading, text }])),
    });
  }

  fit() {
    for (const { find } of this.cards) find(".deck").style.setProperty("--scale", find(".frame").clientWidth / 1280);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const strip = strips.get(parentElement) ?? new Strip(parentElement);
  strips.set(parentElement, strip);
  strip.send = (prepared) => setStateValue("prepared", prepared);
  strip.show(data);
  return () => {
    strip.resized.disconnect();
    strip.close();
    strip.signature = "";
  };
}
