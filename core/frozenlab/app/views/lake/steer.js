// Planning by hand: choose an agent, then draw its path, click where it shall go, or use the arrow keys. Every conflict shows at once.
// data: {base, board, plan, objective, optimum, ghost, height, stepwise, most, axes, numbers, step, sentences, colors}; sends plan = {base, plan}.
// step: that is talked about now, to which the player goes; or null.
// plan: letters, one text an agent. most: how long each may be, or null. stepwise: every step is chosen by hand; no way is found for who presses a
// cell that is not beside the agent.
// While `base` stays the same the browser's own plan is the truth.

const SHORTCUTS = { arrowup: "U", arrowdown: "D", arrowleft: "L", arrowright: "R", w: "W" };
const HELP = "Board to steer on. Arrow keys move the chosen agent, W waits, Backspace takes a step back, a digit chooses an agent, space plays.";
const MOST_CONFLICTS = 8; // that are listed

class Steer {
  // root: what has the buttons; player: the board.
  constructor(root, player) {
    this.root = root;
    this.player = player;
    this.base = null;
    this.told = () => {}; // who wants to know the verdict
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  show(data) {
    this.data = data;
    this.wire();
    if (data.base === this.base) {
      this.player.show({ ...this.shown, numbers: data.numbers });
      if (typeof data.step === "number") this.lookAt(this.shown.tracks[0].conflicts.find(({ step }) => step === data.step)?.time ?? data.step);
      return;
    }
    this.base = data.base;
    this.lake = new Lake(data.board);
    this.plan = data.board.agents.map((_, i) => data.plan?.[i] ?? "");
    [this.past, this.future, this.chosen] = [[], [], 0];
    this.findTeam();
    this.draw(this.plan[0].length);
  }

  wire() {
    this.player.takes = (event) => this.key(event);
    this.player.box.setAttribute("aria-label", HELP);
    this.player.isUsed = true;
    this.player.root.classList.add("steered");
    this.player.root.onpointerdown = (event) => this.press(event);
    for (const [name, act] of Object.entries({
      wait: () => this.move("W"), less: () => this.shorten(), undo: () => this.travel(this.past, this.future), redo: () => this.travel(this.future, this.past),
      over: () => this.commit(this.plan.map(() => ""), 0),
    })) this.find(`.${name}`).onclick = act;
  }

  findTeam() {
    this.find(".team").replaceChildren(...this.data.board.agents.map((_, i) => {
      const button = document.createElement("button");
      const color = agentColor(this.data.colors, i);
      button.type = "button";
      button.textContent = i;
      button.style.setProperty("--color", color);
      button.style.setProperty("--letter", inkOn(color));
      button.onclick = () => this.choose(i);
      return button;
    }));
  }

  // --- the plan

  get time() {
    return Math.round(this.player.time);
  }

  choose(i, time = this.plan[i].length) {
    this.chosen = i;
    this.draw(time);
  }

  // The chosen agent's letters up to now; it waits where its path has ended.
  soFar() {
    return this.plan[this.chosen].slice(0, this.time).padEnd(this.time, "W");
  }

  // What a new step goes on from. Where there are as many steps as may be, it takes the place of the last one.
  begun() {
    return this.soFar().slice(0, (this.data.most ?? Infinity) - 1);
  }

  placeOf(letters) {
    const [path] = new Lake({ rows: this.lake.rows, agents: [this.lake.agents[this.chosen]] }).walk([letters]);
    return path[path.length - 1];
  }

  move(letter) {
    const letters = this.begun(), here = this.placeOf(letters);
    const there = [here[0] + STEP_OF[letter][0], here[1] + STEP_OF[letter][1]];
    if (!this.lake.leads(here, there, this.chosen)) return this.say(`Blocked: ${this.obstacle(there)}`);
    this.follow(letters + letter);
  }

  obstacle(there) {
    if (!this.lake.contains(there)) return "the board ends there.";
    if (this.lake.letter(there) === "H") return "that cell is a hole.";
    return this.lake.isLocked(there, this.chosen) ? "that door opens for another agent only." : "the arrow on this ice points another way.";
  }

  shorten() {
    if (this.time) this.follow(this.soFar().slice(0, -1));
  }

  // The chosen agent's new letters, shown at their end.
  follow(letters, remember = true) {
    this.commit(this.plan.map((own, i) => (i === this.chosen ? letters : own)), letters.length, remember);
  }

  commit(plan, time, remember = true) {
    if (remember && plan.join() !== this.plan.join()) {
      this.past.push(this.plan);
      this.future = [];
    }
    this.plan = plan;
    this.draw(time);
    if (remember) this.send({ base: this.base, plan });
  }

  travel(from, to) {
    if (!from.length) return;
    to.push(this.plan);
    const plan = from.pop();
    const changed = plan.findIndex((letters, i) => letters !== this.plan[i]);
    if (changed >= 0) this.chosen = changed;
    this.plan = plan;
    this.draw(plan[this.chosen].length);
    this.send({ base: this.base, plan });
  }

  // --- pointer: press an agent and draw, or press a cell that the chosen agent shall go to

  cellUnder(event) {
    const cell = this.player.cellUnder(event);
    return this.lake.contains(cell) ? cell : null;
  }

  press(event) {
    if (event.button || !event.composedPath().includes(this.player.find(".sheet"))) return;
    const cell = this.cellUnder(event);
    if (!cell) return;
    event.preventDefault();
    this.player.box.focus({ preventScroll: true });
    this.player.play(false);
    const before = this.plan;
    const here = this.lake.walk(this.plan).map((path) => cellAt(path, this.time));
    if (!sameCell(here[this.chosen], cell)) {
      const on = here.findIndex((place) => sameCell(place, cell));
      if (on >= 0) this.choose(on, Math.min(this.time, this.plan[on].length)); // not after the waits that others need to end
      else this.goTo(cell);
    }
    this.follow(this.soFar(), false);
    const moved = (e) => {
      const over = this.cellUnder(e);
      if (over) this.drawTo(over);
    };
    const ended = () => {
      removeEventListener("pointermove", moved);
      for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, ended);
      const drawn = this.plan;
      this.plan = before;
      this.commit(drawn, this.time);
    };
    addEventListener("pointermove", moved);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, ended);
  }

  // The stroke goes on to `cell`; back over the cell before, it takes the step back.
  drawTo(cell) {
    const letters = this.soFar();
    if (sameCell(this.placeOf(letters), cell)) return;
    if (letters && sameCell(this.placeOf(letters.slice(0, -1)), cell)) this.follow(letters.slice(0, -1), false);
    else this.goTo(cell, 2); // a fast stroke leaves a cell out
  }

  // The shortest way to a cell, as if the agent were alone. Stepwise, none that is longer than `reach`.
  goTo(cell, reach = 1) {
    const letters = this.begun(), start = this.placeOf(letters);
    const most = Math.min(reach, (this.data.most ?? Infinity) - letters.length);
    if (this.data.stepwise && Math.abs(start[0] - cell[0]) + Math.abs(start[1] - cell[1]) > most) return this.say("One step at a time: press a cell next to the agent.");
    const path = shortestPath(new Lake({ rows: this.lake.rows, agents: this.lake.agents.map(() => ({ start, goal: cell })) }), this.chosen, []);
    if (path) this.follow(letters + lettersOf(path).join(""), false);
    else this.say(this.lake.letter(cell) === "H" ? "Blocked: that cell is a hole." : "Blocked: no path leads to that cell.");
  }

  // --- keyboard

  // Whether the key was for the plan.
  key(event) {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key !== "z" && key !== "y") return false;
      if (key === "y" || event.shiftKey) this.travel(this.future, this.past);
      else this.travel(this.past, this.future);
    } else if (key in SHORTCUTS && event.composedPath()[0].type !== "range") {
      this.move(SHORTCUTS[key]);
    } else if (key === "backspace") {
      this.shorten();
    } else if (/^[0-9]$/.test(key) && Number(key) < this.plan.length) {
      this.choose(Number(key));
    } else {
      return false;
    }
    return true;
  }

  // --- what is seen

  draw(time) {
    const { data, plan } = this;
    const paths = this.lake.walk(plan);
    const conflicts = [...this.lake.faults(paths)].filter(({ fault }) => fault !== "goal_not_reached")
      .map((fault) => ({ ...fault, ...markOf(fault, paths), words: faultSentence(fault, data.sentences) }));
    this.verdict = this.lake.judge(paths, data.objective === "makespan" ? data.optimum : null);
    const steps = Math.max(...plan.map((letters) => letters.length));
    this.shown = {
      board: data.board, tracks: [{ label: "Your plan", badge: "", outcome: "", caption: "", paths, fault: null, conflicts }], ghost: data.ghost,
      steps: Math.max(steps, 1), begin: time, margin: 0.08, axes: data.axes, numbers: data.numbers, height: data.height, autoplay: false, busy: "", colors: data.colors,
    };
    this.player.show(this.shown);
    this.player.seek(time);
    this.player.zoom.reveal(cellAt(paths[this.chosen], time));
    this.mark(paths);
    this.list(conflicts);
    this.say(this.scoreOf(conflicts));
    this.told(this.verdict, plan);
  }

  mark(paths) {
    [...this.find(".team").children].forEach((button, i) => {
      const home = sameCell(paths[i][paths[i].length - 1], this.lake.agents[i].goal);
      button.classList.toggle("home", home);
      button.setAttribute("aria-pressed", i === this.chosen);
      button.setAttribute("aria-label", `Agent ${i}${home ? ", on its goal" : ""}`);
      button.title = `Steer agent ${i} (key ${i})`;
    });
    this.find(".less").disabled = !this.plan[this.chosen];
    this.find(".over").disabled = !this.plan.some(Boolean);
    this.find(".undo").disabled = !this.past.length;
    this.find(".redo").disabled = !this.future.length;
  }

  // A phone has one line for them: when and where the first one is.
  list(conflicts) {
    const listed = this.saysFirst ? conflicts.filter(({ step }, i) => step !== conflicts[i - 1]?.step) : conflicts; // what happens stands in the score
    this.find(".conflicts").replaceChildren(...listed.slice(0, MOST_CONFLICTS).map(({ step, time, words, cell }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = this.saysFirst ? `Show step ${step}` : words;
      button.dataset.brief = this.saysFirst ? button.textContent : `${listed.length > 1 ? "first at " : ""}step ${step}, ${plainCell(cell)}`;
      button.title = words;
      button.onclick = () => this.lookAt(time);
      return button;
    }));
  }

  lookAt(time) {
    this.player.play(false);
    this.player.seek(time);
  }

  scoreOf(conflicts) {
    const { makespan, sumOfCosts, agents, fault } = this.verdict;
    const { objective, optimum, most } = this.data;
    if (conflicts.length) {
      const said = conflicts.length === 1 ? "One conflict" : `${grouped(conflicts.length)} conflicts`;
      return this.saysFirst ? `${said}. ${conflicts[0].words}` : `${said}:`;
    }
    if (most) return "No conflict.";
    if (fault && this.saysFirst && !this.plan.some(Boolean)) return "Press an agent and draw its path, or press the cell where it should go.";
    if (fault) return `No conflict. ${namesOf(agents).replace("a", "A")} ${agents.length === 1 ? "is not on its goal" : "are not on their goals"} yet.`;
    const goal = this.plan.length > 1 ? "All on goal" : "On its goal";
    const [reached, took] = objective === "makespan"
      ? [makespan, `${goal} after ${grouped(makespan)} step${makespan === 1 ? "" : "s"}`]
      : [sumOfCosts, `${goal}, sum of costs ${grouped(sumOfCosts)}`];
    if (optimum === null) return `${took}.`;
    const more = reached - optimum;
    return more ? `${took}, ${grouped(more)} above the optimum.` : `${took}. That is the optimal ${objective === "makespan" ? "makespan" : "sum of costs"}.`;
  }

  say(words) {
    const score = this.find(".score");
    score.textContent = words;
    score.classList.toggle("good", this.verdict.fault === null);
  }
}
