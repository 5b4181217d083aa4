// The search, in the browser: its tree as it grows, and the plan of the node that each step is about. Nothing here asks the server.
// data: {base, board, objective, measure, most, choosing, axes, solver: {status, best}, sentences, outcomes, names, reveal, height, colors, tree}; when
// a learner who chooses has come to the end, it sends solved = {base, cost, wrong, nodes}.

const SVG = "http://www.w3.org/2000/svg";
const BECOMES = { generated: "open", pruned: "ended", expanded: "expanded", solved: "optimal" };
const ASKS = "**Which open node comes next? Press it.**";

class Search {
  constructor(root) {
    this.root = root;
    this.resized = new ResizeObserver(() => this.place());
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    this.player ??= new Player(this.find(".plan"));
    this.data = data;
    this.wire();
    if (data.base !== this.base) {
      this.base = data.base;
      const box = this.find(".search");
      for (const [name, color] of Object.entries(data.tree)) box.style.setProperty(`--${name}`, color);
      this.find(".legend").replaceChildren(...Object.entries(data.names).map(([name, words]) => {
        const entry = document.createElement("span");
        entry.appendChild(document.createElement("i")).className = name;
        entry.append(words);
        return entry;
      }));
      this.find(".legend").append(`In a node: its ${data.measure}; beside it: its number. Cells: (row, column), from 0.`);
      this.begin(data.choosing);
    } else {
      this.player.show(this.player.data);
    }
    if (data.reveal) this.find(".search").scrollIntoView({ block: "end" });
  }

  wire() {
    for (const [name, go] of Object.entries({ first: () => 0, before: () => this.now - 1, next: () => this.now + 1, end: () => this.last })) {
      this.find(`.${name}`).onclick = () => this.go(go());
    }
    this.find(".steps .scrub").oninput = (event) => this.go(Number(event.target.value));
    this.find(".choose").onclick = () => this.begin(!this.choosing);
    this.find(".run").onclick = () => this.run();
    this.find(".search").onkeydown = (event) => this.key(event);
    this.resized.disconnect();
    this.resized.observe(this.find(".tree"));
  }

  close() {
    this.resized.disconnect();
    this.player.close();
  }

  // --- the search

  get last() {
    return this.steps.length - 1;
  }

  // A new tree: grown to its end at once, or by the nodes that the learner chooses.
  begin(choosing) {
    this.choosing = choosing;
    this.wrong = 0;
    this.search = new ConstraintTree(new Lake(this.data.board), this.data.objective);
    this.steps = choosing ? [{ action: "generated", node: this.search.nodes[0], open: 1 }] : [...this.search.search(this.data.most)];
    this.find(".search").classList.toggle("alone", this.search.nodes.length === 1 && !this.search.nodes[0].verdict?.fault);
    this.grown(this.find(".alone") ? this.last : 0);
  }

  run() {
    this.steps.push(...this.search.run(this.data.most));
    this.grown(this.last);
  }

  // The learner says which node to go on with. Equally cheap ones are equally right.
  pick(node) {
    const best = this.search.cheapest();
    if (!this.search.open.has(node) || node.cost > best.cost) {
      this.wrong += 1;
      return this.say(`${whyNot(node, best)}\n${ASKS}`, true);
    }
    this.steps.push(...this.search.take(node, this.data.most));
    this.grown(this.last);
    if (this.search.ended === "solved") this.send({ base: this.base, cost: node.cost, wrong: this.wrong, nodes: this.search.nodes.length });
  }

  // The tree has other nodes than before.
  grown(step) {
    this.find(".steps .scrub").max = this.last;
    this.now = step;
    this.build();
    this.go(step);
  }

  // --- the tree

  // Leaves side by side, every other node above the middle of its children: id -> {x, depth}.
  layOut() {
    const places = [];
    let leaves = 0;
    const visit = (node, depth) => {
      const children = this.search.nodes.filter(({ parent }) => parent === node).map((child) => visit(child, depth + 1));
      const x = children.length ? children.reduce((sum, child) => sum + child.x, 0) / children.length : leaves++;
      return (places[node.id] = { x, depth });
    };
    visit(this.search.nodes[0], 0);
    return places;
  }

  // Every node and edge there is; a step only says what is seen.
  build() {
    const add = (tag, parent, attributes = {}) => {
      const made = parent.appendChild(document.createElementNS(SVG, tag));
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const svg = this.find(".tree");
    svg.replaceChildren();
    this.places = this.layOut();
    this.edges = this.search.nodes.map(({ parent }) => (parent ? add("line", svg) : null));
    this.ring = add("circle", svg, { class: "ring" });
    this.alone = add("text", svg, { class: "note" });
    this.alone.textContent = "Root: every agent on its shortest path";
    this.marks = this.search.nodes.map((node, id) => {
      const mark = add("g", svg, { role: "button", tabindex: 0 });
      add("title", mark);
      add("circle", mark);
      add("path", mark);
      add("text", mark, { class: "cost" }).textContent = node.paths ? node.cost : "";
      add("text", mark, { class: "number", "aria-hidden": true }).textContent = id;
      mark.onclick = () => this.press(node);
      mark.onkeydown = (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        this.press(node);
        this.marks[id].focus();
      };
      return mark;
    });
    this.place();
  }

  // Where everything stands in the room that the tree has.
  place() {
    const svg = this.find(".tree");
    if (!this.places) return;
    const across = Math.max(...this.places.map(({ x }) => x)) + 1, deep = Math.max(...this.places.map(({ depth }) => depth)) + 1;
    svg.style.setProperty("--deep", deep);
    const { clientWidth: width, clientHeight: height } = svg;
    if (!width || !height) return;
    const size = Math.max(5, Math.min(34, (width * 0.8) / across, (height * 0.75) / deep)) / 2;
    this.at = this.places.map(({ x, depth }) => [((x + 0.9) / (across + 0.8)) * width, ((depth + 0.6) / (deep + 0.2)) * height]);
    this.size = size;
    this.search.nodes.forEach((node, id) => {
      const [x, y] = this.at[id];
      const mark = this.marks[id];
      mark.setAttribute("transform", `translate(${x} ${y})`);
      mark.querySelector("circle").setAttribute("r", size);
      mark.querySelector("path").setAttribute("d", `M${-size * 0.5} ${-size * 0.5}L${size * 0.5} ${size * 0.5}M${size * 0.5} ${-size * 0.5}L${-size * 0.5} ${size * 0.5}`);
      for (const text of mark.querySelectorAll("text")) text.style.display = size < 10 ? "none" : "";
      mark.querySelector(".number").setAttribute("x", size + 7);
      mark.querySelector(".number").setAttribute("y", -size * 0.8);
      if (!node.parent) return;
      const [px, py] = this.at[node.parent.id];
      for (const [name, value] of Object.entries({ x1: px, y1: py, x2: x, y2: y })) this.edges[id].setAttribute(name, value);
    });
    const [x, y] = this.at[0], half = this.alone.getComputedTextLength() / 2;
    this.alone.setAttribute("x", Math.max(half, Math.min(x, width - half)));
    this.alone.setAttribute("y", y + size + 16);
    this.circle();
  }

  circle() {
    if (this.now === undefined || !this.at) return;
    const [x, y] = this.at[this.steps[this.now].node.id];
    for (const [name, value] of Object.entries({ cx: x, cy: y, r: this.size + 5 })) this.ring.setAttribute(name, value);
  }

  // A node is chosen while the search waits for the learner; else it is looked at.
  press(node) {
    const waits = this.choosing && !this.search.ended && this.now === this.last;
    if (waits && this.search.open.size && !this.steps.some(({ action, node: done }) => action === "expanded" && done === node)) this.pick(node);
    else this.go(this.lastStepOf(node));
    if (matchMedia("(max-width: 767px)").matches) this.find(".plan").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  }

  // The last step up to now that was done to a node.
  lastStepOf(node) {
    let step = this.now;
    while (this.steps[step].node !== node) step--;
    return step;
  }

  go(step) {
    const { names } = this.data;
    const now = (this.now = Math.max(0, Math.min(step, this.last)));
    const states = {};
    for (const { action, node } of this.steps.slice(0, now + 1)) states[node.id] = BECOMES[action] ?? states[node.id] ?? "ended";
    const current = this.steps[now].node;
    const lineage = new Set();
    for (let node = current; node; node = node.parent) lineage.add(node.id);
    this.search.nodes.forEach((node, id) => {
      const mark = this.marks[id];
      const words = [`Node ${id}, ${names[states[id]] ?? ""}`, ...this.about(node)];
      mark.toggleAttribute("hidden", !states[id]);
      mark.setAttribute("class", states[id] ?? "");
      mark.setAttribute("aria-label", words.join(". "));
      mark.querySelector("title").textContent = words.join("\n");
      this.edges[id]?.toggleAttribute("hidden", !states[id]);
      this.edges[id]?.setAttribute("class", lineage.has(id) ? "lineage" : "");
    });
    this.alone.toggleAttribute("hidden", Object.keys(states).length > 1);
    this.circle();
    this.tell(this.steps[now], Object.keys(states).length);
    this.watch(this.shownAt(now));
  }

  about(node) {
    const cost = node.paths ? `${this.data.measure} ${node.cost}` : "no path is left";
    return [node.constraint ? forbids(node.constraint) : "nothing is forbidden", cost, conflictOf(node, this.data)].filter(Boolean);
  }

  // The nodes whose plans stand side by side: a child comes with its sibling, as far as that is there.
  shownAt(now) {
    const { action, node } = this.steps[now];
    if (!node.parent || !["generated", "pruned"].includes(action)) return [node];
    const known = new Set(this.steps.slice(0, now + 1).map((step) => step.node));
    return this.search.nodes.filter((other) => other.parent === node.parent && known.has(other));
  }

  tell(step, grown) {
    const { node, open } = step;
    const { measure } = this.data;
    const asks = this.choosing && this.now === this.last && !this.search.ended;
    const words = explained(step, this.search, this.data);
    this.say([words, this.now === this.last ? ending(step, this.search, this.data, this.data.solver) : "", asks ? ASKS : ""].filter(Boolean).join("\n"));
    this.find(".figures").replaceChildren(...[
      [node.id, "node", "Counted in the order in which they come up"],
      [node.paths ? node.cost : "–", measure, "Of this node's plan, conflicts and all"],
      [this.search.constraintsOf(node).length, "forbidden", "Constraints that hold at this node: its own and those above it"],
      [open, "open", "Nodes that wait to be expanded after this step"],
      [grown, "in all", "Nodes in the tree so far"],
    ].map(([value, name, help]) => {
      const figure = document.createElement("div");
      figure.title = help;
      figure.appendChild(document.createElement("b")).textContent = value;
      figure.appendChild(document.createElement("span")).textContent = name;
      return figure;
    }));
    const scrub = this.find(".steps .scrub");
    scrub.value = this.now;
    scrub.style.setProperty("--done", this.last ? this.now / this.last : 0);
    scrub.setAttribute("aria-valuetext", `step ${this.now} of ${this.last}`);
    this.find(".steps .clock").textContent = `step ${this.now} / ${this.last}`;
    for (const name of ["first", "before"]) this.find(`.${name}`).disabled = this.now === 0;
    for (const name of ["next", "end"]) this.find(`.${name}`).disabled = this.now === this.last;
    this.find(".choose").setAttribute("aria-pressed", this.choosing);
    this.find(".run").hidden = !this.choosing || Boolean(this.search.ended) || !this.search.open.size;
  }

  say(words, wrong = false) {
    this.find(".words").classList.toggle("wrong", wrong);
    this.find(".words").replaceChildren(...words.split("**").map((part, n) => {
      const piece = document.createElement(n % 2 ? "strong" : "span");
      piece.textContent = part;
      return piece;
    }));
  }

  watch(nodes) {
    const { board, height, colors, outcomes } = this.data;
    const tracks = nodes.map((node) => {
      const { paths, verdict, constraint } = node;
      return {
        label: constraint && nodes.length > 1 ? `Node ${node.id}: agent ${constraint.agent} gives way` : `Node ${node.id}`,
        badge: verdict ? outcomes[verdict.outcome] : null,
        outcome: verdict?.fault ? "fault" : verdict?.outcome,
        caption: verdict ? (verdict.fault ? faultSentence(verdict, this.data.sentences) : "No conflict.") : "No path is left.",
        paths,
        fault: verdict?.fault ? markOf(verdict, paths) : null,
        locks: this.search.constraintsOf(node),
      };
    });
    const longest = (paths) => Math.max(...(paths ?? [[null]]).map((path) => path.length - 1));
    const steps = Math.max(...nodes.map(({ paths }) => longest(paths)));
    const fault = tracks.length === 1 ? tracks[0].fault : null;
    const begin = fault ? fault.time : nodes[0].constraint && nodes.length > 1 ? Math.min(nodes[0].constraint.step, steps) : steps;
    this.player.show({ board, tracks, ghost: null, steps, begin, margin: 0.08, axes: this.data.axes, height, autoplay: false, busy: "", colors });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.composedPath().includes(this.find(".plan"))) return;
    const steps = { ArrowLeft: this.now - 1, ArrowRight: this.now + 1, Home: 0, End: this.last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(steps[event.key]);
  }
}
