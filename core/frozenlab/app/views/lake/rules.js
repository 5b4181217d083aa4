// The rules of the lake in the browser, as frozenlab.lake.rules has them; tests/browser/test_engine.py holds the two against each other.
// Cells are [row, col]; a path is the cells of one agent at time 0, 1, 2, ...; paths: one an agent.

const STEP_OF = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1], W: [0, 0] }; // in the order of frozenlab.lake.board.MOVES
const MOVE_STEPS = Object.values(STEP_OF);
const DOOR = MOVE_STEPS.length; // the lowest bit of a door in the exits of a cell, as in frozenlab.lake.exits
const sameCell = (a, b) => a[0] === b[0] && a[1] === b[1];
const cellAt = (path, time) => path[Math.min(time, path.length - 1)];
const plainCell = ([r, c]) => `(${r}, ${c})`;

class Lake {
  constructor({ rows, agents }) {
    this.rows = rows;
    this.agents = agents;
    this.width = rows[0].length;
    this.distances = new Map();
  }

  // The number of a cell, row by row; -1 off the board.
  at([r, c]) {
    return r >= 0 && c >= 0 && r < this.rows.length && c < this.width ? r * this.width + c : -1;
  }

  // Of every cell the moves that lead from it, a bit each, and its door: 0, or 1 + the number of its agent.
  get exits() {
    if (this.masks) return this.masks;
    const { rows, width } = this;
    this.masks = new Uint8Array(rows.length * width);
    rows.forEach((row, r) => [...row].forEach((letter, c) => {
      if (letter === "H") return;
      const around = [rows[r - 1]?.[c], rows[r + 1]?.[c], row[c - 1], row[c + 1], "F"];
      const arrow = "^v<>".indexOf(letter);
      let mask = isDoor(letter) ? (1 + Number(letter)) << DOOR : 0;
      around.forEach((next, move) => { if (next && next !== "H" && (arrow < 0 || move === arrow || move === 4)) mask |= 1 << move; });
      this.masks[r * width + c] = mask;
    }));
    return this.masks;
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
    const [down, right] = [there[0] - here[0], there[1] - here[1]];
    for (let move = 0; move < MOVE_STEPS.length; move++) {
      if (MOVE_STEPS[move][0] === down && MOVE_STEPS[move][1] === right) return Boolean((this.exits[this.at(here)] >> move) & 1);
    }
    return false;
  }

  leads(here, there, agent) {
    return this.hasExit(here, there) && !this.isLocked(there, agent);
  }

  // Steps of an agent to its goal when nobody else is in the way, by number of the cell; -1 where no way leads there.
  distancesToGoal(agent) {
    if (this.distances.has(agent)) return this.distances.get(agent);
    const { exits, width } = this;
    const queue = [this.at(this.agents[agent].goal)];
    const back = [width, -width, 1, -1]; // from where a move comes
    const steps = new Int32Array(exits.length).fill(-1);
    steps[queue[0]] = 0;
    for (const here of queue) {
      for (let move = 0; move < 4; move++) {
        const cell = here + back[move];
        if (!((exits[cell] >> move) & 1) || steps[cell] >= 0 || this.isShut(cell, agent)) continue;
        steps[cell] = steps[here] + 1;
        queue.push(cell);
      }
    }
    this.distances.set(agent, steps);
    return steps;
  }

  // Whether the cell of a number is a door that the agent has no key for.
  isShut(cell, agent) {
    return this.exits[cell] >> DOOR !== 0 && this.exits[cell] >> DOOR !== agent + 1;
  }

  // Steps of an agent's shortest way from a cell when nobody else is in the way; -1 if there is none. A*, quick for a thousand agents: each
  // move away from the goal makes the way two steps longer than it could be, so cells wait in two heaps only.
  stepsAlone(agent, cell) {
    const { exits, width, agents: { [agent]: { goal: [r, c] } } } = this;
    const seen = (this.seen ??= new Int32Array(exits.length)), run = (this.runs = (this.runs ?? 0) + 1);
    let steps = Math.abs(cell[0] - r) + Math.abs(cell[1] - c);
    for (let now = [this.at(cell)], later; now.length; now = later, steps += 2) {
      later = [];
      while (now.length) {
        const here = now.pop();
        if (here === r * width + c) return steps;
        if (seen[here] === run) continue;
        seen[here] = run;
        const row = Math.floor(here / width), col = here % width;
        const nearer = [row > r, row < r, col > c, col < c], next = [here - width, here + width, here - 1, here + 1];
        for (let move = 0; move < 4; move++) {
          if (!((exits[here] >> move) & 1) || seen[next[move]] === run || this.isShut(next[move], agent)) continue;
          (nearer[move] ? now : later).push(next[move]);
        }
      }
    }
    return -1;
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
    const found = { out_of_bounds: [], hole: [], locked_door: [] }, barred = [];
    now.forEach((cell, i) => {
      const place = this.at(cell);
      if (place < 0) return found.out_of_bounds.push(i);
      if (!this.exits[place]) found.hole.push(i);
      if (this.isShut(place, i)) found.locked_door.push(i);
      if (moving ? this.contains(before[i]) && !this.hasExit(before[i], cell) : !sameCell(before[i], cell)) barred.push(i);
    });
    for (const [fault, agents] of Object.entries(found)) for (const i of agents) yield [fault, [i]];
    const beside = (i) => Math.abs(now[i][0] - before[i][0]) + Math.abs(now[i][1] - before[i][1]) <= 1;
    for (const i of barred) if (moving && beside(i)) yield ["against_arrow", [i]];
    for (const i of barred) yield ["illegal_jump", [i]];
    const [came, went] = [before, now].map((cells) => cells.map(([r, c]) => r * FAR_OFF + c));
    for (const pair of pairs(went, went)) yield ["vertex_conflict", pair];
    const moves = (from, to) => from.map((place, i) => place * FAR_OFF ** 2 + to[i]);
    for (const pair of pairs(moves(came, went), moves(went, came))) yield ["edge_conflict", pair];
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

const FAR_OFF = 8192; // a column that no path comes to

// The pairs i < j, ascending, of which `ours` of i is `theirs` of j.
function* pairs(ours, theirs) {
  const where = new Map();
  theirs.forEach((one, j) => { if (!where.get(one)?.push(j)) where.set(one, [j]); });
  for (let i = 0; i < ours.length; i++) for (const j of where.get(ours[i]) ?? []) if (j > i) yield [i, j];
}

function lettersOf(path) {
  return path.slice(1).map((cell, n) => Object.keys(STEP_OF).find((name) => sameCell([path[n][0] + STEP_OF[name][0], path[n][1] + STEP_OF[name][1]], cell)));
}

const MOST_NAMED = 12; // agents; frozenlab.app.views.lake.tracks has it too

function namesOf(agents) {
  if (agents.length === 1) return `agent ${agents[0]}`;
  if (agents.length > MOST_NAMED) return `${grouped(agents.length)} agents`;
  return `agents ${agents.slice(0, -1).join(", ")} and ${agents[agents.length - 1]}`;
}

// What happened, as one sentence. `sentences`: those of frozenlab.app.views.lake.tracks.SENTENCES, with places to fill in.
function faultSentence({ fault, step, agents, cell }, sentences) {
  const filled = { step, who: namesOf(agents), first: namesOf(agents.slice(0, 1)), cell: cell && plainCell(cell), are: agents.length === 1 ? "is" : "are" };
  return sentences[fault].replace(/\{(\w+)\}/g, (_, name) => filled[name]);
}

// When and where the player shows a fault. A swap of cells is met halfway, in time and place.
function markOf({ fault, step, agents }, paths) {
  const cells = agents.map((i) => cellAt(paths[i], step));
  if (fault !== "edge_conflict") return { time: step, marks: cells.filter((cell, n) => cells.findIndex((other) => sameCell(other, cell)) === n) };
  return { time: step - 0.5, marks: [[(cells[0][0] + cells[1][0]) / 2, (cells[0][1] + cells[1][1]) / 2]] };
}
