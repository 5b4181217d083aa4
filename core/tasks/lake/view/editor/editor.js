// The editor: paint holes, one-way ice and doors, drag starts and goals, change the size and the team.
// data: {base, board: {rows, agents}, sides: [least, most], templates: {name: board}, height, colors}; sends edit = {base, seq, rows, agents}.
// While `base` stays the same the browser's own board is the truth; what the script echoes is older and is not looked at.

const editors = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const editor = editors.get(parentElement) ?? new Editor(parentElement);
  editors.set(parentElement, editor);
  editor.send = (edit) => setStateValue("edit", edit);
  editor.show(data);
}

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

const PLAIN = "F", HOLE = "H";
const SIDES = { "^": "up", v: "down", "<": "left", ">": "right" };

function nameOf(letter) {
  if (letter in ARROWS) return `one-way ice, ${SIDES[letter]}`;
  return isDoor(letter) ? `door of agent ${letter}` : letter === HOLE ? "hole" : "ice";
}

// One-way ice or a door as on the board in the player.
function artOf(letter, colors) {
  const art = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  art.setAttribute("viewBox", "-.5 -.5 1 1");
  art.setAttribute("class", "art");
  const add = (name, attributes) => {
    const part = art.appendChild(document.createElementNS("http://www.w3.org/2000/svg", name));
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    return part;
  };
  if (letter in ARROWS) {
    add("path", { d: "M-.3-.16L0-.42L.3-.16M-.3 .16L0-.1L.3 .16", transform: `rotate(${360 * ARROWS[letter]})`, class: "arrow" });
  } else {
    const fill = agentColor(colors, Number(letter));
    add("rect", { x: -0.45, y: -0.45, width: 0.9, height: 0.9, rx: 0.12, fill, "fill-opacity": 0.3 });
    for (const x of [-0.45, 0.31]) add("rect", { x, y: -0.42, width: 0.14, height: 0.84, rx: 0.04, fill, class: "post" });
    add("text", { y: 0.12, class: "number" }).textContent = letter;
  }
  return art;
}

class Editor {
  constructor(root) {
    this.root = root;
    this.base = null;
    this.seq = 0;
    this.focus = [0, 0];
    this.brush = HOLE;
    this.restyled = new MutationObserver(() => this.paintTheme());
    this.focused = ({ target }) => { this.focus = [Number(target.dataset.r), Number(target.dataset.c)]; };
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    this.data = data;
    this.find(".editor").style.setProperty("--board-height", `${data.height / 16}rem`);
    this.grid = this.find(".grid");
    this.grid.onpointerdown = (event) => this.press(event);
    this.grid.addEventListener("focusin", this.focused);
    this.grid.onkeydown = (event) => this.key(event);
    watchTheme(this.restyled, this.root);
    this.paintTheme();
    for (const stepper of this.root.querySelectorAll(".stepper")) {
      const [less, more] = stepper.querySelectorAll("button");
      less.onclick = () => this.resize(stepper.dataset.what, -1);
      more.onclick = () => this.resize(stepper.dataset.what, 1);
    }
    this.find(".clear").onclick = () => {
      this.ice = this.ice.map((row) => row.map(() => PLAIN));
      this.commit("All ice is plain.");
    };
    this.find(".undo").onclick = () => this.travel(this.past, this.future);
    this.find(".redo").onclick = () => this.travel(this.future, this.past);
    const templates = this.find(".templates");
    const option = (text, value) => Object.assign(document.createElement("option"), { textContent: text, value });
    templates.replaceChildren(option("Template …", ""), ...Object.keys(data.templates).map((name) => option(name, name)));
    templates.onchange = () => {
      const name = templates.value;
      templates.value = "";
      this.take(data.templates[name]);
      this.commit(`Template ${name}.`);
    };
    if (data.base === this.base) return;
    this.base = data.base;
    this.take(data.board);
    [this.past, this.future, this.kept] = [[], [], this.plain()];
    this.draw();
  }

  // Another board in place of the one that is there.
  take({ rows, agents }) {
    this.ice = rows.map((row) => [...row]);
    this.agents = agents.map(({ start, goal }) => ({ start: [...start], goal: [...goal] }));
    this.carried = null;
    this.focus = [0, 0];
  }

  plain() {
    return { rows: this.ice.map((row) => row.join("")), agents: this.agents.map(({ start, goal }) => ({ start: [...start], goal: [...goal] })) };
  }

  // Undo and redo: from one heap of boards to the other.
  travel(from, to) {
    if (!from.length) return;
    to.push(this.kept);
    this.kept = from.pop();
    const { focus } = this;
    this.take(this.kept);
    this.focus = [Math.min(focus[0], this.rows - 1), Math.min(focus[1], this.cols - 1)];
    this.tell(from === this.past ? "Undone." : "Redone.");
  }

  paintTheme() {
    const box = this.find(".editor");
    const colors = colorsOf(box, this.data.colors);
    for (const name of ["ice", "hole", "hatch", "outline"]) box.style.setProperty(`--${name}`, colors[name]);
  }

  // --- what is where

  get rows() { return this.ice.length; }
  get cols() { return this.ice[0].length; }

  pieceAt(cell) {
    for (const [i, agent] of this.agents.entries()) {
      for (const role of ["start", "goal"]) if (same(agent[role], cell)) return { i, role };
    }
    return null;
  }

  free() {
    const cells = [];
    this.ice.forEach((row, r) => row.forEach((letter, c) => { if (letter === PLAIN && !this.pieceAt([r, c])) cells.push([r, c]); }));
    return cells;
  }

  // --- changes

  paint(cell, letter) {
    if (this.pieceAt(cell) || this.ice[cell[0]][cell[1]] === letter) return false;
    this.ice[cell[0]][cell[1]] = letter;
    return true;
  }

  // What a stroke that begins on `cell` paints: what the brush has, or plain ice over what the brush has painted.
  strokeFrom(cell) {
    return this.ice[cell[0]][cell[1]] === this.brush ? PLAIN : this.brush;
  }

  move({ i, role }, cell) {
    const there = this.pieceAt(cell);
    if (there) this.agents[there.i][there.role] = this.agents[i][role];
    this.agents[i][role] = [...cell];
    this.ice[cell[0]][cell[1]] = PLAIN;
    this.focus = [...cell];
    this.commit(`${role} of agent ${i} to (${cell.join(", ")})`);
  }

  resize(what, by) {
    if (what === "team") this.hire(by);
    else this.reshape(this.rows + (what === "rows" ? by : 0), this.cols + (what === "cols" ? by : 0));
  }

  hire(by) {
    if (by < 0) {
      this.agents.pop();
      const gone = String(this.agents.length);
      this.ice = this.ice.map((row) => row.map((letter) => (letter === gone ? PLAIN : letter)));
      if (this.brush === gone) this.brush = HOLE;
    } else {
      const free = this.free();
      // The new agent crosses the board: from the first free cell to the last.
      this.agents.push({ start: free[0], goal: free[free.length - 1] });
    }
    this.commit(`${this.agents.length} agents`);
  }

  reshape(rows, cols) {
    const ice = Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => this.ice[r]?.[c] ?? PLAIN));
    const lost = [];
    for (const agent of this.agents) {
      for (const role of ["start", "goal"]) if (agent[role][0] >= rows || agent[role][1] >= cols) lost.push([agent, role]);
    }
    this.ice = ice;
    // Pieces on cells that are gone move to the nearest cell without one, plain ice if it is no farther.
    for (const [agent, role] of lost) {
      const [r0, c0] = agent[role];
      let best = null;
      for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) {
        const far = Math.abs(r - r0) + Math.abs(c - c0) + (ice[r][c] === PLAIN ? 0 : 1.5);
        if (!this.pieceAt([r, c]) && (!best || far < best.far)) best = { far, cell: [r, c] };
      }
      agent[role] = best.cell;
      ice[best.cell[0]][best.cell[1]] = PLAIN;
    }
    this.focus = [Math.min(this.focus[0], rows - 1), Math.min(this.focus[1], cols - 1)];
    this.commit(`${rows} by ${cols} cells`);
  }

  commit(words) {
    this.past.push(this.kept);
    this.future = [];
    this.kept = this.plain();
    this.tell(words);
  }

  tell(words) {
    this.draw();
    this.find(".say").textContent = words;
    this.seq += 1;
    this.send({ base: this.base, seq: this.seq, ...this.kept });
  }

  // --- pointer: a stroke paints, a drag moves a piece

  cellUnder(event) {
    const hit = this.root.elementFromPoint?.(event.clientX, event.clientY)?.closest(".cell");
    return hit && this.grid.contains(hit) ? [Number(hit.dataset.r), Number(hit.dataset.c)] : null;
  }

  press(event) {
    const cell = this.cellUnder(event);
    if (!cell || event.button) return;
    event.preventDefault();
    const piece = this.pieceAt(cell);
    const letter = this.strokeFrom(cell);
    let changed = false;
    let over = cell;
    const visit = (here) => {
      if (!here) return;
      over = here;
      if (piece) this.mark(here);
      else if (this.paint(here, letter)) { changed = true; this.draw(); }
    };
    this.focus = cell;
    if (piece) this.lift(piece);
    visit(cell);
    const moved = (e) => visit(this.cellUnder(e));
    const ended = (e) => {
      for (const [name, handler] of [["pointermove", moved], ["pointerup", ended], ["pointercancel", ended]]) window.removeEventListener(name, handler);
      if (piece) {
        this.lift(null);
        if (e.type === "pointerup" && !same(over, cell)) this.move(piece, over);
      } else if (changed) {
        this.commit(`Painted: ${nameOf(letter)}.`);
      }
      this.cell(this.focus).focus({ preventScroll: true });
    };
    for (const [name, handler] of [["pointermove", moved], ["pointerup", ended], ["pointercancel", ended]]) window.addEventListener(name, handler);
  }

  // --- keyboard

  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const [r, c] = this.focus;
    if ((event.ctrlKey || event.metaKey) && ["z", "y"].includes(event.key.toLowerCase())) {
      if (event.key.toLowerCase() === "y" || event.shiftKey) this.travel(this.future, this.past);
      else this.travel(this.past, this.future);
    } else if (steps[event.key]) {
      const [dr, dc] = steps[event.key];
      this.focus = [Math.max(0, Math.min(r + dr, this.rows - 1)), Math.max(0, Math.min(c + dc, this.cols - 1))];
      this.draw();
    } else if (event.key === " ") {
      if (this.paint([r, c], this.strokeFrom([r, c]))) this.commit(`Painted: ${nameOf(this.ice[r][c])}.`);
    } else if (event.key === "Enter") {
      const carried = this.carried;
      if (carried) {
        this.lift(null);
        if (!same(this.agents[carried.i][carried.role], [r, c])) this.move(carried, [r, c]);
      } else if (this.pieceAt([r, c])) {
        this.lift(this.pieceAt([r, c]));
        this.find(".say").textContent = `Carrying the ${this.carried.role} of agent ${this.carried.i}: go to a cell, enter puts it down.`;
      }
    } else if (event.key === "Escape") {
      this.lift(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.cell(this.focus).focus();
  }

  lift(piece) {
    this.carried = piece;
    this.draw();
  }

  mark(cell) {
    for (const other of this.grid.querySelectorAll(".over")) other.classList.remove("over");
    this.cell(cell).classList.add("over");
  }

  // --- drawing

  cell([r, c]) {
    return this.grid.children[r].children[c];
  }

  draw() {
    const editor = this.find(".editor");
    editor.style.setProperty("--rows", this.rows);
    editor.style.setProperty("--cols", this.cols);
    if (this.grid.children.length !== this.rows || this.grid.children[0].children.length !== this.cols) this.build();
    this.ice.forEach((row, r) => row.forEach((letter, c) => {
      const cell = this.cell([r, c]);
      const piece = this.pieceAt([r, c]);
      cell.classList.toggle("hole", letter === HOLE);
      cell.classList.remove("over");
      cell.tabIndex = same(this.focus, [r, c]) ? 0 : -1;
      const what = piece ? `${piece.role} of agent ${piece.i}` : nameOf(letter);
      cell.setAttribute("aria-label", `row ${r}, column ${c}: ${what}`);
      cell.replaceChildren();
      if (letter !== PLAIN && letter !== HOLE) cell.append(artOf(letter, this.data.colors));
      if (!piece) return;
      const token = cell.appendChild(document.createElement("span"));
      token.className = `piece ${piece.role}`;
      token.classList.toggle("held", this.carried?.i === piece.i && this.carried?.role === piece.role);
      token.textContent = piece.i;
      const color = agentColor(this.data.colors, piece.i);
      token.style.setProperty("--color", color);
      token.style.setProperty("--letter", inkOn(color));
    }));
    this.drawBrushes();
    this.find(".undo").disabled = !this.past.length;
    this.find(".redo").disabled = !this.future.length;
    const [least, most] = this.data.sides;
    const pieces = 2 * this.agents.length;
    const state = {
      rows: [this.rows, "rows", this.rows > least && (this.rows - 1) * this.cols >= pieces, this.rows < most],
      cols: [this.cols, "columns", this.cols > least && this.rows * (this.cols - 1) >= pieces, this.cols < most],
      team: [this.agents.length, this.agents.length === 1 ? "agent" : "agents", this.agents.length > 1,
        this.agents.length < this.data.colors.agents.length && this.free().length >= 2],
    };
    for (const stepper of this.root.querySelectorAll(".stepper")) {
      const [value, unit, less, more] = state[stepper.dataset.what];
      stepper.querySelector("b").textContent = `${value} ${unit}`;
      const [minus, plus] = stepper.querySelectorAll("button");
      minus.disabled = !less;
      plus.disabled = !more;
    }
  }

  drawBrushes() {
    const letters = [HOLE, ...Object.keys(ARROWS), ...this.agents.map((_, i) => String(i))];
    this.find(".brushes").replaceChildren(...letters.map((letter) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "brush";
      button.classList.toggle("hole", letter === HOLE);
      button.setAttribute("aria-pressed", letter === this.brush);
      button.setAttribute("aria-label", `Paint ${nameOf(letter)}`);
      button.title = `Paint ${nameOf(letter)}`;
      if (letter !== HOLE) button.append(artOf(letter, this.data.colors));
      button.onclick = () => {
        this.brush = letter;
        this.drawBrushes();
        this.find(`.brush[aria-pressed="true"]`).focus();
      };
      return button;
    }));
  }

  build() {
    this.grid.replaceChildren(...this.ice.map((row, r) => {
      const line = document.createElement("div");
      line.className = "row";
      line.setAttribute("role", "row");
      row.forEach((_, c) => {
        const cell = line.appendChild(document.createElement("div"));
        cell.className = "cell";
        cell.setAttribute("role", "gridcell");
        cell.dataset.r = r;
        cell.dataset.c = c;
      });
      return line;
    }));
  }
}
