// Conflict-Based Search in the browser: frozenlab.lake.solvers.cbs, node for node; tests/browser/test_engine.py holds the two against each other.
// A constraint {agent, step, cell, origin}: the agent must not be on `cell` at `step`; with an origin, only not come there from that cell.

class Heap {
  constructor(before) {
    this.before = before;
    this.items = [];
  }

  push(item) {
    const { items } = this;
    let at = items.push(item) - 1;
    for (let above; at && this.before(items[at], items[(above = (at - 1) >> 1)]); at = above) [items[at], items[above]] = [items[above], items[at]];
  }

  pop() {
    const { items } = this;
    const top = items[0], last = items.pop();
    if (items.length) items[0] = last;
    for (let at = 0; ;) {
      const least = [2 * at + 1, 2 * at + 2].reduce((best, child) => (child < items.length && this.before(items[child], items[best]) ? child : best), at);
      if (least === at) return top;
      [items[at], items[least]] = [items[least], items[at]];
      at = least;
    }
  }
}

// Of two paths the one that Python's order of tuples puts first.
function pathBefore(a, b) {
  for (let n = 0; n < Math.min(a.length, b.length); n++) {
    if (a[n][0] !== b[n][0]) return a[n][0] < b[n][0];
    if (a[n][1] !== b[n][1]) return a[n][1] < b[n][1];
  }
  return a.length < b.length;
}

function entryBefore([f, h, path], [otherF, otherH, otherPath]) {
  return f !== otherF ? f < otherF : h !== otherH ? h < otherH : pathBefore(path, otherPath);
}

// The shortest path of one agent, alone on the board, that obeys `constraints`; null if there is none (A* over cells and steps).
function shortestPath(lake, agent, constraints) {
  const { start, goal } = lake.agents[agent];
  const distance = lake.distancesToGoal(agent);
  const mine = constraints.filter((constraint) => constraint.agent === agent);
  const forbidden = new Set(mine.map(({ step, origin, cell }) => `${step}|${origin ?? ""}|${cell}`));
  const last = Math.max(0, ...mine.map(({ step }) => step));
  const freeFrom = Math.max(0, ...mine.filter(({ cell, origin }) => !origin && sameCell(cell, goal)).map(({ step }) => step + 1));
  const queue = new Heap(entryBefore);
  const from = distance[lake.at(start)];
  if (from >= 0) queue.push([from, from, [start]]);
  const seen = new Set();
  while (queue.items.length) {
    const [, , path] = queue.pop();
    const here = path[path.length - 1], step = path.length - 1;
    if (sameCell(here, goal) && step >= freeFrom) return path;
    const place = `${here}|${Math.min(step, last)}`; // after the last constraint one step is like another
    if (seen.has(place)) continue;
    seen.add(place);
    for (const [dr, dc] of Object.values(STEP_OF)) {
      const there = [here[0] + dr, here[1] + dc];
      const left = distance[lake.at(there)];
      if (!(left >= 0) || !lake.leads(here, there, agent)) continue;
      if (forbidden.has(`${step + 1}||${there}`) || forbidden.has(`${step + 1}|${here}|${there}`)) continue;
      queue.push([step + 1 + left, left, [...path, there]]);
    }
  }
  return null;
}

// The constraint tree. A node: {id, parent, constraint, paths, cost, verdict}; paths and verdict are null where an agent has no path left.
class ConstraintTree {
  constructor(lake, objective) {
    this.lake = lake;
    this.objective = objective;
    this.nodes = [];
    this.open = new Set();
    this.ended = null; // how the search has ended: solved, gave_up
    this.grow(null, null);
  }

  constraintsOf(node) {
    return node ? [...this.constraintsOf(node.parent), ...(node.constraint ? [node.constraint] : [])] : [];
  }

  // Plans all agents at the root, and below it only the agent that has a new constraint.
  grow(parent, constraint) {
    const node = { id: this.nodes.length, parent, constraint, paths: null, cost: 0, verdict: null };
    const constraints = this.constraintsOf(node);
    const paths = this.lake.agents.map((_, i) => (constraint && constraint.agent !== i ? parent.paths[i] : shortestPath(this.lake, i, constraints)));
    if (paths.every(Boolean)) {
      const costs = paths.map((path) => path.length - 1);
      node.paths = paths;
      node.cost = this.objective === "makespan" ? Math.max(...costs) : costs.reduce((sum, cost) => sum + cost, 0);
      node.verdict = this.lake.judge(paths);
      this.open.add(node);
    }
    this.nodes.push(node);
    return node;
  }

  // The open node that the search expands next: of equally cheap ones the newest.
  cheapest() {
    return [...this.open].reduce((best, node) => (!best || node.cost < best.cost || (node.cost === best.cost && node.id > best.id) ? node : best), null);
  }

  // The two ways out of the first conflict of a node: the one agent keeps off, or the other does.
  split({ paths, verdict: { fault, step, agents } }) {
    return agents.map((agent) => {
      const origin = fault === "edge_conflict" ? cellAt(paths[agent], step - 1) : null;
      return { agent, step, cell: cellAt(paths[agent], step), origin };
    });
  }

  // What the search does with an open node, as {action, node, open}: see frozenlab.lake.solvers.cbs.search.
  * take(node, most) {
    this.open.delete(node);
    const open = this.open.size;
    this.ended = !node.verdict.fault ? "solved" : this.nodes.length + 2 > most ? "gave_up" : null;
    yield { action: this.ended ?? "expanded", node, open };
    if (this.ended) return;
    for (const constraint of this.split(node)) {
      const child = this.grow(node, constraint);
      yield { action: child.paths ? "generated" : "pruned", node: child, open: this.open.size };
    }
  }

  // On from here to the end: the cheapest node first.
  * run(most) {
    let node = this.nodes[0];
    while (this.open.size && !this.ended) {
      node = this.cheapest();
      yield* this.take(node, most);
    }
    if (!this.ended) yield { action: "no_plan", node, open: 0 };
  }

  // Everything that the search does.
  * search(most) {
    const [root] = this.nodes;
    if (root.paths) yield { action: "generated", node: root, open: 1 };
    yield* this.run(most);
  }
}

// Prioritized planning (frozenlab.lake.solvers.priorities): the agents plan one after the other, each around the paths before it.
function planInOrder(lake, order) {
  const planned = new Map();
  for (const agent of order) {
    const before = [...planned.values()];
    const settled = Math.max(0, ...before.map((path) => path.length - 1)) + lake.rows.length * lake.rows[0].length;
    const path = shortestPath(lake, agent, before.flatMap((other) => keepOff(agent, other, settled)));
    if (!path || path.length - 1 > settled) return { planned, failed: agent };
    planned.set(agent, path);
  }
  return { planned, failed: null };
}

// What `agent` must not do so that it never meets the path of another, up to a step by which it has arrived if it ever does.
function keepOff(agent, path, settled) {
  const constraints = [];
  for (let step = 1; step <= settled; step++) {
    const cell = cellAt(path, step), before = cellAt(path, step - 1);
    constraints.push({ agent, step, cell, origin: null });
    if (!sameCell(cell, before)) constraints.push({ agent, step, cell: before, origin: cell });
  }
  return constraints;
}
