// The search, step by step: its tree as it grows, and the plan of the node that each step is about. All steps are here: none asks the server.
// data: {board, nodes: [{parent, x, depth, cost, moves, label, badge, outcome, caption, fault, forbids, hover}], steps: [{action, node, open,
// words}], measure, names, reveal, colors, tree}; moves: per agent a letter a step, null where an agent has no path left.

const SVG = "http://www.w3.org/2000/svg";
const MOVES = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1], W: [0, 0] };
const BECOMES = { generated: "open", pruned: "ended", expanded: "expanded", solved: "optimal" };
const searches = new WeakMap();

export default function ({ data, parentElement }) {
  const search = searches.get(parentElement) ?? new Search(parentElement);
  searches.set(parentElement, search);
  search.show(data);
  return () => search.close();
}

class Search {
  constructor(root) {
    this.root = root;
    this.resized = new ResizeObserver(() => this.place());
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    const box = this.find(".search");
    this.player ??= new Player(this.find(".plan"));
    for (const [name, go] of Object.entries({ first: () => 0, before: () => this.now - 1, next: () => this.now + 1, end: () => this.last })) {
      this.find(`.${name}`).onclick = () => this.go(go());
    }
    this.find(".steps .scrub").oninput = (event) => this.go(Number(event.target.value));
    box.onkeydown = (event) => this.key(event);
    this.resized.disconnect();
    this.resized.observe(this.find(".tree"));
    const signature = JSON.stringify([data.board, data.measure]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.data = data;
      this.last = data.steps.length - 1;
      box.classList.toggle("alone", this.last <= 1 && data.nodes.length <= 1);
      for (const [name, color] of Object.entries(data.tree)) box.style.setProperty(`--${name}`, color);
      this.find(".steps .scrub").max = this.last;
      this.find(".legend").replaceChildren(...Object.entries(data.names).map(([name, words]) => {
        const entry = document.createElement("span");
        entry.appendChild(document.createElement("i")).className = name;
        entry.append(words);
        return entry;
      }));
      this.build();
      this.go(this.find(".alone") ? this.last : 0);
    } else {
      this.player.show(this.player.data);
    }
    if (data.reveal) box.scrollIntoView({ block: "end" });
  }

  close() {
    this.resized.disconnect();
    this.player.close();
  }

  // Every node and edge there will be; a step only says what is seen.
  build() {
    const add = (tag, parent, attributes = {}) => {
      const made = parent.appendChild(document.createElementNS(SVG, tag));
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      return made;
    };
    const tree = this.find(".tree");
    tree.replaceChildren();
    this.edges = this.data.nodes.map(({ parent }) => (parent === null ? null : add("line", tree)));
    this.ring = add("circle", tree, { class: "ring" });
    this.marks = this.data.nodes.map((node, id) => {
      const mark = add("g", tree);
      add("title", mark);
      add("circle", mark);
      add("path", mark);
      add("text", mark).textContent = node.moves ? node.cost : "";
      mark.onclick = () => this.go(this.lastStepOf(id));
      return mark;
    });
    this.place();
  }

  // Where everything stands in the room that the tree has.
  place() {
    const tree = this.find(".tree");
    const { clientWidth: width, clientHeight: height } = tree;
    if (!this.data || !width || !height) return;
    const { nodes } = this.data;
    const across = Math.max(...nodes.map(({ x }) => x)) + 1, deep = Math.max(...nodes.map(({ depth }) => depth)) + 1;
    const size = Math.max(5, Math.min(34, (width * 0.8) / across, (height * 0.75) / deep)) / 2;
    this.at = nodes.map(({ x, depth }) => [((x + 0.9) / (across + 0.8)) * width, ((depth + 0.6) / (deep + 0.2)) * height]);
    this.size = size;
    nodes.forEach((node, id) => {
      const [x, y] = this.at[id];
      const mark = this.marks[id];
      mark.setAttribute("transform", `translate(${x} ${y})`);
      mark.querySelector("circle").setAttribute("r", size);
      mark.querySelector("path").setAttribute("d", `M${-size * 0.5} ${-size * 0.5}L${size * 0.5} ${size * 0.5}M${size * 0.5} ${-size * 0.5}L${-size * 0.5} ${size * 0.5}`);
      mark.querySelector("text").style.display = size < 10 ? "none" : "";
      if (node.parent === null) return;
      const [px, py] = this.at[node.parent];
      for (const [name, value] of Object.entries({ x1: px, y1: py, x2: x, y2: y })) this.edges[id].setAttribute(name, value);
    });
    this.circle();
  }

  circle() {
    if (this.now === undefined || !this.at) return;
    const [x, y] = this.at[this.data.steps[this.now].node];
    for (const [name, value] of Object.entries({ cx: x, cy: y, r: this.size + 5 })) this.ring.setAttribute(name, value);
  }

  // The last step up to now that was done to a node.
  lastStepOf(id) {
    let step = this.now;
    while (this.data.steps[step].node !== id) step--;
    return step;
  }

  go(step) {
    const { nodes, steps, names } = this.data;
    const now = (this.now = Math.max(0, Math.min(step, this.last)));
    const states = {};
    for (const { action, node } of steps.slice(0, now + 1)) states[node] = BECOMES[action] ?? states[node] ?? "ended";
    const current = steps[now].node;
    const lineage = new Set();
    for (let id = current; id !== null; id = nodes[id].parent) lineage.add(id);
    nodes.forEach((node, id) => {
      const mark = this.marks[id];
      mark.toggleAttribute("hidden", !states[id]);
      mark.setAttribute("class", states[id] ?? "");
      mark.querySelector("title").textContent = [`Node ${id}, ${names[states[id]] ?? ""}`, ...node.hover].join("\n");
      this.edges[id]?.toggleAttribute("hidden", !states[id]);
      this.edges[id]?.setAttribute("class", lineage.has(id) ? "lineage" : "");
    });
    this.circle();
    this.tell(steps[now], Object.keys(states).length);
    const counts = Object.entries(names).map(([name, words]) => [Object.values(states).filter((state) => state === name).length, words]);
    const seen = counts.filter(([count]) => count).map((entry) => entry.join(" ")).join(", ");
    this.find(".tree").setAttribute("aria-label", `Constraint tree after step ${now}: ${seen}. This step is about node ${current}.`);
    this.watch(nodes[current]);
  }

  tell({ words, node, open }, grown) {
    const { nodes, measure } = this.data;
    const of = nodes[node];
    this.find(".words").replaceChildren(...words.split("**").map((part, n) => {
      const piece = document.createElement(n % 2 ? "strong" : "span");
      piece.textContent = part;
      return piece;
    }));
    this.find(".figures").replaceChildren(...[
      [node, "node", "Counted in the order in which they come up"],
      [of.moves ? of.cost : "–", measure, "Of this node's plan, conflicts and all"],
      [of.forbids, "forbidden", "Constraints that hold at this node: its own and those above it"],
      [open, "open", "Nodes that wait to be expanded after this step"],
      [grown, "nodes", "In the tree so far"],
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
  }

  watch({ moves, label, badge, outcome, caption, fault }) {
    const { board, colors } = this.data;
    const paths = moves && moves.map((letters, i) => {
      let cell = board.agents[i].start;
      return [cell, ...[...letters].map((letter) => (cell = [cell[0] + MOVES[letter][0], cell[1] + MOVES[letter][1]]))];
    });
    const steps = paths ? Math.max(...paths.map((path) => path.length - 1)) : 0;
    const track = { label, badge, outcome, caption, paths, fault };
    this.player.show({ board, tracks: [track], ghost: null, steps, begin: fault ? fault.time : steps, margin: 0.08, height: 400, autoplay: false, busy: "", colors });
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
