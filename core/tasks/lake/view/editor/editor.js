// The editor: paint holes, drag starts and goals, change the size and the team.
// data: {base, board: {rows, agents}, sides: [least, most], height, colors}; sends edit = {base, seq, rows, agents}.
// While `base` stays the same the browser's own board is the truth; what the script echoes is older and is not looked at.

const editors = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const editor = editors.get(parentElement) ?? new Editor(parentElement);
  editors.set(parentElement, editor);
  editor.send = (edit) => setStateValue("edit", edit);
  editor.show(data);
}

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

class Editor {
  constructor(root) {
    this.root = root;
    this.base = null;
    this.seq = 0;
    this.focus = [0, 0];
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
      this.holes = this.holes.map((row) => row.map(() => false));
      this.commit("No holes left.");
    };
    if (data.base === this.base) return;
    this.base = data.base;
    this.holes = data.board.rows.map((row) => [...row].map((letter) => letter === "H"));
    this.agents = data.board.agents.map(({ start, goal }) => ({ start: [...start], goal: [...goal] }));
    this.carried = null;
    this.focus = [0, 0];
    this.draw();
  }

  paintTheme() {
    const box = this.find(".editor");
    const colors = colorsOf(box, this.data.colors);
    for (const name of ["ice", "hole", "hatch", "outline"]) box.style.setProperty(`--${name}`, colors[name]);
  }

  // --- what is where

  get rows() { return this.holes.length; }
  get cols() { return this.holes[0].length; }

  pieceAt(cell) {
    for (const [i, agent] of this.agents.entries()) {
      for (const role of ["start", "goal"]) if (same(agent[role], cell)) return { i, role };
    }
    return null;
  }

  free() {
    const cells = [];
    this.holes.forEach((row, r) => row.forEach((hole, c) => { if (!hole && !this.pieceAt([r, c])) cells.push([r, c]); }));
    return cells;
  }

  // --- changes

  paint(cell, hole) {
    if (this.pieceAt(cell) || this.holes[cell[0]][cell[1]] === hole) return false;
    this.holes[cell[0]][cell[1]] = hole;
    return true;
  }

  move({ i, role }, cell) {
    const there = this.pieceAt(cell);
    if (there) this.agents[there.i][there.role] = this.agents[i][role];
    this.agents[i][role] = [...cell];
    this.holes[cell[0]][cell[1]] = false;
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
    } else {
      const free = this.free();
      // The new agent crosses the board: from the first free cell to the last.
      this.agents.push({ start: free[0], goal: free[free.length - 1] });
    }
    this.commit(`${this.agents.length} agents`);
  }

  reshape(rows, cols) {
    const holes = Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => this.holes[r]?.[c] ?? false));
    const lost = [];
    for (const agent of this.agents) {
      for (const role of ["start", "goal"]) if (agent[role][0] >= rows || agent[role][1] >= cols) lost.push([agent, role]);
    }
    this.holes = holes;
    // Pieces on cells that are gone move to the nearest cell without one; a hole there freezes.
    for (const [agent, role] of lost) {
      const [r0, c0] = agent[role];
      let best = null;
      for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) {
        const far = Math.abs(r - r0) + Math.abs(c - c0) + (holes[r][c] ? 1.5 : 0);
        if (!this.pieceAt([r, c]) && (!best || far < best.far)) best = { far, cell: [r, c] };
      }
      agent[role] = best.cell;
      holes[best.cell[0]][best.cell[1]] = false;
    }
    this.focus = [Math.min(this.focus[0], rows - 1), Math.min(this.focus[1], cols - 1)];
    this.commit(`${rows} by ${cols} cells`);
  }

  commit(words) {
    this.draw();
    this.find(".say").textContent = words;
    this.seq += 1;
    this.send({
      base: this.base,
      seq: this.seq,
      rows: this.holes.map((row) => row.map((hole) => (hole ? "H" : "F")).join("")),
      agents: this.agents.map(({ start, goal }) => ({ start, goal })),
    });
  }

  // --- pointer: a stroke paints holes or ice, a drag moves a piece

  cellUnder(event) {
    const hit = this.root.elementFromPoint?.(event.clientX, event.clientY)?.closest(".cell");
    return hit && this.grid.contains(hit) ? [Number(hit.dataset.r), Number(hit.dataset.c)] : null;
  }

  press(event) {
    const cell = this.cellUnder(event);
    if (!cell || event.button) return;
    event.preventDefault();
    const piece = this.pieceAt(cell);
    const hole = !this.holes[cell[0]][cell[1]];
    let changed = false;
    let over = cell;
    const visit = (here) => {
      if (!here) return;
      over = here;
      if (piece) this.mark(here);
      else if (this.paint(here, hole)) { changed = true; this.draw(); }
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
        this.commit(hole ? "Holes painted." : "Ice painted.");
      }
      this.cell(this.focus).focus({ preventScroll: true });
    };
    for (const [name, handler] of [["pointermove", moved], ["pointerup", ended], ["pointercancel", ended]]) window.addEventListener(name, handler);
  }

  // --- keyboard

  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const [r, c] = this.focus;
    if (steps[event.key]) {
      const [dr, dc] = steps[event.key];
      this.focus = [Math.max(0, Math.min(r + dr, this.rows - 1)), Math.max(0, Math.min(c + dc, this.cols - 1))];
      this.draw();
    } else if (event.key === " ") {
      if (this.paint([r, c], !this.holes[r][c])) this.commit(this.holes[r][c] ? "Hole." : "Ice.");
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
    this.holes.forEach((row, r) => row.forEach((hole, c) => {
      const cell = this.cell([r, c]);
      const piece = this.pieceAt([r, c]);
      cell.classList.toggle("hole", hole);
      cell.classList.remove("over");
      cell.tabIndex = same(this.focus, [r, c]) ? 0 : -1;
      const what = piece ? `${piece.role} of agent ${piece.i}` : hole ? "hole" : "ice";
      cell.setAttribute("aria-label", `row ${r}, column ${c}: ${what}`);
      cell.replaceChildren();
      if (!piece) return;
      const token = cell.appendChild(document.createElement("span"));
      token.className = `piece ${piece.role}`;
      token.classList.toggle("held", this.carried?.i === piece.i && this.carried?.role === piece.role);
      token.textContent = piece.i;
      const color = agentColor(this.data.colors, piece.i);
      token.style.setProperty("--color", color);
      token.style.setProperty("--letter", inkOn(color));
    }));
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

  build() {
    this.grid.replaceChildren(...this.holes.map((row, r) => {
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
