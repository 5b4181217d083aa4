// The rules of the lake in the browser, as frozenlab.lake.rules has them; tests/browser/test_engine.py holds the two against each other.
// Cells are [row, col]; a path is the cells of one agent at time 0, 1, 2, ...; paths: one an agent.

const STEP_OF = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1], W: [0, 0] }; // in the order of frozenlab.lake.board.MOVES
const sameCell = (a, b) => a[0] === b[0] && a[1] === b[1];
const cellAt = (path, time) => path[Math.min(time, path.length - 1)];
const plainCell = ([r, c]) => `(${r}, ${c})`;

class Lake {
  constructor({ rows, agents }) {
    this.rows = rows;
    this.agents = agents;
    this.distances = new Map();
  }

  contains([r, c]) {
    return r >= 0 && c >= 0 && r < this.rows.length && c < this.rows[0].length;
  }

  letter([r, c]) {
    return this.rows[r][c];
  }

  isLocked(cell, agent) {
    return isDoor(this.letter(cell)) && Number(this.letter(cell)) !== agent;
  }

  // Whether an exit of `here`, a cell of the board, leads to `there`.
  hasExit(here, there) {
    const move = Object.keys(STEP_OF).find((name) => there[0] - here[0] === STEP_OF[name][0] && there[1] - here[1] === STEP_OF[name][1]);
    if (!move || this.letter(here) === "H") return false;
    if (move === "W") return true;
    if (!this.contains(there) || this.letter(there) === "H") return false;
    return !(this.letter(here) in ARROWS) || { "^": "U", v: "D", "<": "L", ">": "R" }[this.letter(here)] === move;
  }

  leads(here, there, agent) {
    return this.hasExit(here, there) && !this.isLocked(there, agent);
  }

  // Steps to `goal` from every cell from which `agent` can get there when nobody else is in the way; the key is the cell as text.
  distancesTo(goal, agent) {
    const distance = new Map([[String(goal), 0]]);
    const queue = [goal];
    for (const [r, c] of queue) {
      for (const [dr, dc] of Object.values(STEP_OF)) {
        const cell = [r + dr, c + dc];
        if (distance.has(String(cell)) || !this.contains(cell) || this.isLocked(cell, agent) || !this.hasExit(cell, [r, c])) continue;
        distance.set(String(cell), distance.get(String([r, c])) + 1);
        queue.push(cell);
      }
    }
    return distance;
  }

  distancesToGoal(agent) {
    if (!this.distances.has(agent)) this.distances.set(agent, this.distancesTo(this.agents[agent].goal, agent));
    return this.distances.get(agent);
  }

  // The cells that a plan (letters, one text an agent) leads to from the starts, legal or not.
  walk(plan) {
    return plan.map((letters, i) => {
      let cell = this.agents[i].start;
      return [cell, ...[...letters].map((letter) => (cell = [cell[0] + STEP_OF[letter][0], cell[1] + STEP_OF[letter][1]]))];
    });
  }

  // The faults of one time step in their order of precedence; nobody is `moving` at step 0.
  * faultsOf(before, now, moving) {
    for (const [i, cell] of now.entries()) if (!this.contains(cell)) yield ["out_of_bounds", [i]];
    const inside = (i) => this.contains(now[i]);
    for (const [i, cell] of now.entries()) if (inside(i) && this.letter(cell) === "H") yield ["hole", [i]];
    for (const [i, cell] of now.entries()) if (inside(i) && this.isLocked(cell, i)) yield ["locked_door", [i]];
    const barred = [...now.keys()].filter((i) => inside(i) && (moving ? this.contains(before[i]) && !this.hasExit(before[i], now[i]) : !sameCell(before[i], now[i])));
    const beside = (i) => Math.abs(now[i][0] - before[i][0]) + Math.abs(now[i][1] - before[i][1]) <= 1;
    for (const i of barred) if (moving && beside(i)) yield ["against_arrow", [i]];
    for (const i of barred) yield ["illegal_jump", [i]];
    for (const [i, j] of pairs(now.length)) if (sameCell(now[i], now[j])) yield ["vertex_conflict", [i, j]];
    for (const [i, j] of pairs(now.length)) if (sameCell(now[i], before[j]) && sameCell(now[j], before[i])) yield ["edge_conflict", [i, j]];
  }

  // Every fault of the paths, step by step; that somebody is not on the goal comes last. The first is the one that the verdict names.
  * faults(paths) {
    const last = Math.max(...paths.map((path) => path.length)) - 1;
    let before = this.agents.map(({ start }) => start);
    for (let step = 0; step <= last; step++) {
      const now = paths.map((path) => cellAt(path, step));
      for (const [fault, agents] of this.faultsOf(before, now, step > 0)) yield { fault, step, agents, cell: now[agents[0]] };
      before = now;
    }
    const astray = [...paths.keys()].filter((i) => !sameCell(cellAt(paths[i], last), this.agents[i].goal));
    if (astray.length) yield { fault: "goal_not_reached", step: last, agents: astray, cell: before[astray[0]] };
  }

  // The verdict of frozenlab.lake.rules.judge_paths on paths that are there for every agent.
  judge(paths, optimum = null) {
    const { value: found } = this.faults(paths).next();
    if (found) return { ...found, outcome: found.fault, makespan: null, sumOfCosts: null };
    const arrivals = paths.map(arrivalOf);
    const makespan = Math.max(...arrivals);
    const outcome = optimum === null ? "valid" : makespan <= optimum ? "optimal" : "suboptimal";
    return { fault: null, step: null, agents: [], cell: null, outcome, makespan, sumOfCosts: arrivals.reduce((sum, one) => sum + one, 0) };
  }
}

// First time step from which the path stays on its last cell.
function arrivalOf(path) {
  let step = path.length - 1;
  while (step > 0 && sameCell(path[step - 1], path[path.length - 1])) step--;
  return step;
}

function* pairs(count) {
  for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) yield [i, j];
}

function lettersOf(path) {
  return path.slice(1).map((cell, n) => Object.keys(STEP_OF).find((name) => sameCell([path[n][0] + STEP_OF[name][0], path[n][1] + STEP_OF[name][1]], cell)));
}

function namesOf(agents) {
  if (agents.length === 1) return `agent ${agents[0]}`;
  return `agents ${agents.slice(0, -1).join(", ")} and ${agents[agents.length - 1]}`;
}

// What happened, as one sentence. `sentences`: those of frozenlab.app.views.lake.tracks.SENTENCES, with places to fill in.
function faultSentence({ fault, step, agents, cell }, sentences) {
  const filled = { step, who: namesOf(agents), cell: cell && plainCell(cell), are: agents.length === 1 ? "is" : "are" };
  return sentences[fault].replace(/\{(\w+)\}/g, (_, name) => filled[name]);
}

// When and where the player shows a fault. A swap of cells is met halfway, in time and place.
function markOf({ fault, step, agents }, paths) {
  const cells = agents.map((i) => cellAt(paths[i], step));
  if (fault !== "edge_conflict") return { time: step, marks: cells.filter((cell, n) => cells.findIndex((other) => sameCell(other, cell)) === n) };
  return { time: step - 0.5, marks: [[(cells[0][0] + cells[1][0]) / 2, (cells[0][1] + cells[1][1]) / 2]] };
}
