// Drawing on the board of a player: paint holes, one-way ice and doors, drag starts and goals, change the size and the team.
// data: {base, board: {rows, agents}, sides: [least, most], doors, templates: {name: board}, height, warning, colors}; sends edit = {base, seq, rows, agents}.
// While `base` stays the same the browser's own board is the truth; what the script echoes is older and is not looked at.

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

const PLAIN = "F", HOLE = "H";
const SIDES = { "^": "up", v: "down", "<": "left", ">": "right" };

function nameOf(letter) {
  if (letter in ARROWS) return `one-way ice, ${SIDES[letter]}`;
  return isDoor(letter) ? `door of agent ${letter}` : letter === HOLE ? "hole" : "ice";
}

// One-way ice or a door as on the board in the player; an arrow, which stands at the edge there, in the middle.
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
    add("path", { d: "M-.3-.16L0-.42L.3-.16M-.3 .16L0-.1L.3 .16", transform: `rotate(${360 * ARROWS[letter]}) translate(0 .13)`, class: "arrow" });
  } else {
    const fill = agentColor(colors, Number(letter));
    add("rect", { x: -0.45, y: -0.45, width: 0.9, height: 0.9, rx: 0.12, fill, "fill-opacity": 0.3 });
    for (const x of [-0.45, 0.31]) add("rect", { x, y: -0.42, width: 0.14, height: 0.84, rx: 0.04, fill, class: "post" });
    add("text", { y: 0.12, class: "number" }).textContent = letter;
  }
  return art;
}

class Editor {
  // root: what has the grid and the buttons; player: the board, over which the grid is laid.
  constructor(root, player) {
    this.root = root;
    this.player = player;
    this.base = null;
    this.seq = 0;
    this.focus = [0, 0];
    this.brush = HOLE;
    this.focused = ({ target }) => { this.focus = [Number(target.dataset.r), Number(target.dataset.c)]; };
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    this.data = data;
    this.player.isUsed = true;
    this.player.root.classList.add("drawn");
    this.find(".warning").textContent = data.warning;
    this.player.laid = () => this.lay();
    this.grid = this.find(".grid");
    this.find(".overlay").onwheel = (event) => this.player.zoom.turn(event);
    this.grid.onpointerdown = (event) => this.press(event);
    this.grid.addEventListener("focusin", this.focused);
    this.grid.onkeydown = (event) => this.key(event);
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
    if (data.base !== this.base) {
      this.base = data.base;
      this.take(data.board);
      [this.past, this.future, this.kept] = [[], [], this.plain()];
      this.find(".say").textContent = "Press cells to paint them. Drag discs and squares.";
    }
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

  // --- what is where

  get rows() { return this.ice.length; }
  get cols() { return this.ice[0].length; }

  // The pieces of all cells that have some, by the text of the cell. A start and a goal can share one; the start lies on top.
  pieces() {
    const found = new Map();
    for (const role of ["start", "goal"]) {
      this.agents.forEach((agent, i) => found.set(String(agent[role]), [...(found.get(String(agent[role])) ?? []), { i, role }]));
    }
    return found;
  }

  piecesAt(cell) {
    return this.pieces().get(String(cell)) ?? [];
  }

  pieceAt(cell) {
    return this.piecesAt(cell)[0] ?? null;
  }

  free() {
    const cells = [], taken = this.pieces();
    this.ice.forEach((row, r) => row.forEach((letter, c) => { if (letter === PLAIN && !taken.has(`${r},${c}`)) cells.push([r, c]); }));
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

  // Puts a start or goal on a cell; a start where another starts, or a goal on another's, takes its place.
  put({ i, role }, cell) {
    const there = this.piecesAt(cell).find((piece) => piece.role === role);
    if (there) this.agents[there.i][role] = this.agents[i][role];
    this.agents[i][role] = [...cell];
    this.ice[cell[0]][cell[1]] = PLAIN;
    this.focus = [...cell];
  }

  move(piece, cell) {
    this.put(piece, cell);
    this.commit(`${piece.role} of agent ${piece.i} to (${cell.join(", ")})`);
  }

  // How the board would be with the carried piece here.
  preview(piece, cell) {
    this.take(this.kept);
    this.carried = piece;
    this.put(piece, cell);
    this.draw();
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
      const taken = this.pieces();
      let best = null;
      for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) {
        const far = Math.abs(r - r0) + Math.abs(c - c0) + (ice[r][c] === PLAIN ? 0 : 1.5);
        if (!taken.has(`${r},${c}`) && (!best || far < best.far)) best = { far, cell: [r, c] };
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
    const [r, c] = this.player.cellUnder(event);
    return this.player.zoom.pointOf(event) && this.ice[r]?.[c] !== undefined ? [r, c] : null;
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
      if (piece) { if (!same(here, over)) this.preview(piece, here); }
      else if (this.paint(here, letter)) { changed = true; this.draw(); }
      over = here;
    };
    this.focus = cell;
    visit(cell);
    const moved = (e) => visit(this.cellUnder(e));
    const ended = (e) => {
      for (const [name, handler] of [["pointermove", moved], ["pointerup", ended], ["pointercancel", ended]]) window.removeEventListener(name, handler);
      if (piece) {
        this.putDown();
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
      if (this.carried) this.preview(this.carried, this.focus);
      else this.draw();
      this.player.zoom.reveal(this.focus);
    } else if (event.key === " ") {
      if (this.paint([r, c], this.strokeFrom([r, c]))) this.commit(`Painted: ${nameOf(this.ice[r][c])}.`);
    } else if (event.key === "Enter") {
      const carried = this.carried;
      if (carried) {
        this.putDown();
        if (!same(this.agents[carried.i][carried.role], [r, c])) this.move(carried, [r, c]);
      } else if (this.pieceAt([r, c])) {
        this.carried = this.pieceAt([r, c]);
        this.draw();
        this.find(".say").textContent = `Carrying the ${this.carried.role} of agent ${this.carried.i}: go to a cell and press Enter to put it down.`;
      }
    } else if (event.key === "Escape" && this.carried) {
      this.putDown();
      this.find(".say").textContent = "Nothing was moved.";
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this.cell(this.focus).focus();
  }

  // The board as it was before a piece was carried.
  putDown() {
    const { focus } = this;
    this.take(this.kept);
    this.focus = focus;
    this.draw();
  }

  // --- drawing

  cell([r, c]) {
    return this.grid.children[r].children[c];
  }

  draw() {
    const board = this.plain(), { height, colors } = this.data;
    const track = { label: "", badge: "", outcome: "", caption: "", paths: null, fault: null };
    if (this.grid.children.length !== this.rows || this.grid.children[0].children.length !== this.cols) this.build();
    this.player.show({ board, tracks: [track], ghost: null, steps: 0, begin: 0, margin: 0.08, height, autoplay: false, busy: "", colors });
    const there = this.pieces();
    this.ice.forEach((row, r) => row.forEach((letter, c) => {
      const cell = this.cell([r, c]);
      const pieces = there.get(`${r},${c}`) ?? [];
      cell.tabIndex = same(this.focus, [r, c]) ? 0 : -1;
      cell.classList.toggle("held", pieces.some(({ i, role }) => this.carried?.i === i && this.carried?.role === role));
      cell.setAttribute("aria-label", `row ${r}, column ${c}: ${pieces.map(({ i, role }) => `${role} of agent ${i}`).join(", ") || nameOf(letter)}`);
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

  // The grid over the board, wherever that is and however near it is seen.
  lay() {
    const [{ canvas, frame }] = this.player.views;
    if (!frame) return;
    for (const name of ["ice", "hole", "hatch", "outline"]) this.root.style.setProperty(`--${name}`, this.player.colors[name]);
    const sheet = canvas.getBoundingClientRect(), { left, top } = this.root.offsetParent.getBoundingClientRect();
    const pixels = (element, sizes) => Object.entries(sizes).forEach(([side, size]) => { element.style[side] = `${size}px`; });
    pixels(this.find(".overlay"), { left: sheet.left - left, top: sheet.top - top, width: sheet.width, height: sheet.height });
    pixels(this.grid, { left: frame.left, top: frame.top, width: frame.cell * this.cols, height: frame.cell * this.rows });
  }

  drawBrushes() {
    const letters = [HOLE, ...Object.keys(ARROWS), ...this.data.doors.slice(0, this.agents.length)];
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
    this.grid.style.setProperty("--cols", this.cols);
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
