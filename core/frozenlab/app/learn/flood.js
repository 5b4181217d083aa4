// The flood: from the goal, which the reader chooses, each cell gets the steps that are left from there, ring by ring.
// data: {rows, start, goal}; H is a hole. Cells are [r, c].

const PACE = 350; // milliseconds a ring
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const floods = new WeakMap();

export default function ({ data, parentElement }) {
  const flood = floods.get(parentElement) ?? new Flood(parentElement, data);
  floods.set(parentElement, flood);
  return () => flood.run(false);
}

class Flood {
  constructor(root, { rows, start, goal }) {
    Object.assign(this, { rows, start });
    this.find = (selector) => root.querySelector(selector);
    this.cells = rows.map((row, r) => {
      const line = this.find("tbody").insertRow();
      return [...row].map((letter, c) => this.cell(line.insertCell(), letter, [r, c]));
    });
    this.find(".play").onclick = () => this.run(!this.ticking);
    this.find("input").oninput = ({ target }) => { this.run(false); this.show(Number(target.value)); };
    this.choose(goal);
  }

  // The button of a cell; null for a hole.
  cell(place, letter, at) {
    if (letter === "H") return place.classList.add("hole"), null;
    const button = place.appendChild(node("button"));
    button.type = "button";
    button.onclick = () => this.choose(at);
    button.onpointerenter = ({ buttons, pointerType }) => { if (buttons === 1 && pointerType === "mouse") this.choose(at); };
    button.onkeydown = (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      this.cells[at[0] + step[0]]?.[at[1] + step[1]]?.focus();
    };
    return button;
  }

  choose(goal) {
    if (String(goal) === String(this.goal)) return;
    this.run(false);
    this.goal = goal;
    this.left = this.cells.map((row) => row.map(() => Infinity));
    this.left[goal[0]][goal[1]] = 0;
    const queue = [goal];
    for (const [r, c] of queue) {
      for (const [down, across] of Object.values(STEPS)) {
        const next = [r + down, c + across];
        if (!this.cells[next[0]]?.[next[1]] || this.left[next[0]][next[1]] < Infinity) continue;
        this.left[next[0]][next[1]] = this.left[r][c] + 1;
        queue.push(next);
      }
    }
    this.most = Math.max(...this.left.flat().filter((steps) => steps < Infinity));
    this.find("input").max = this.most;
    this.show(this.most);
  }

  run(on) {
    clearInterval(this.ticking);
    this.ticking = 0;
    if (on) {
      this.show(this.shown < this.most ? this.shown : 0);
      this.ticking = setInterval(() => (this.shown < this.most ? this.show(this.shown + 1) : this.run(false)), PACE);
    }
    this.find(".play").textContent = on ? "Pause" : "Run the flood";
  }

  // The cells that the flood has reached after so many steps.
  show(steps) {
    this.shown = steps;
    const is = (at, r, c) => at[0] === r && at[1] === c;
    this.cells.forEach((row, r) => row.forEach((button, c) => {
      if (!button) return;
      const left = this.left[r][c], wet = left <= steps;
      button.textContent = wet ? left : "";
      button.style.setProperty("--left", Math.min(left, 20));
      button.className = [wet && "wet", wet && left === steps && steps < this.most && "front", is(this.goal, r, c) && "goal", is(this.start, r, c) && "start"].filter(Boolean).join(" ");
      button.tabIndex = is(this.goal, r, c) ? 0 : -1;
      const what = is(this.goal, r, c) ? "goal" : is(this.start, r, c) ? "start" : "ice";
      button.setAttribute("aria-label", `(${r}, ${c}), ${what}${wet ? `, ${left} steps left` : ""}. Move the goal here`);
    }));
    this.find("input").value = steps;
    const alone = this.left[this.start[0]][this.start[1]];
    const start = "From the start, the cell with the dashed ring,";
    this.find("p").textContent = alone <= steps ? `${start} ${alone === 1 ? "1 step is" : `${alone} steps are`} left.`
      : alone === Infinity ? `${start} no way leads to this goal.` : `After ${steps === 1 ? "1 step" : `${steps} steps`} the flood has not reached the start yet.`;
  }
}
