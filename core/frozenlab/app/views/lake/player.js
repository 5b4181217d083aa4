// The player: one or several plans on the same board, in lockstep under one timeline.
// data: {board: {rows, agents}, tracks: [{label, outcome, badge, caption, paths, fault, conflicts, absent}], ghost, steps, begin, margin, axes, numbers, height,
// autoplay, loop, once, busy, colors}
// loop: every plan stops at its first fault, steps in which nobody moves pass fast, and all begin again after a pause; once: they do not.
// asked: how often somebody has asked for what is shown; it begins anew, also where it is the same as before.
// locks of a track: [{agent, step, cell}], where an agent must not be at a step; drawn at that step, and faint before and after.
// tail: steps that trails go back, where they are to be short.
// absent: agents of a track that have no path yet, drawn faint. last_words: how an answer that was cut off breaks off. rule: what its fault breaks.
// paths: of each agent the cells [r, c] at time 0, 1, 2, ..., or the first cell and the letters of its moves; fault: {time, marks: [[r, c]]} | null; null paths stand still.
// conflicts: all faults of a plan that somebody is working on; each is ringed at its time only, and nothing is drawn faint.
// The engine's rules find all faults of a track for the heat map, and the shortest ways for the delays.

const STEPS_A_SECOND = 2;
const HOLD_AT_FAULT = 1.5; // seconds
const HOLD_AT_END = 3; // where plans begin again
const IDLE = 6; // times as fast where nobody moves
const TRAIL = 0.9; // opacity
const FAINT = 0.3; // of the opacity
const TAIL = 12; // steps of the trails of more agents
const HEATS = ["faults", "traffic"]; // what a heat map may count
const SMALL = 6; // columns of a board of which two can be read side by side on a phone
const MOST_SEEN = 8; // agents that need no control to pick one out
const driven = (globalThis.frozenlabPlayer ??= { active: null }); // the player that the keyboard drives from outside, and that of the desk; one for all components
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const linear = (part) => part;
const eased = (part) => part + (part * part * (3 - 2 * part) - part) * 0.6;
const floored = () => 0;

class Player {
  constructor(root) {
    this.root = root;
    this.box = root.querySelector(".player");
    this.signature = "";
    this.time = 0;
    this.playing = false;
    this.trails = null; // null: while the team is small
    this.delays = false;
    this.heat = null; // what the heat map counts, or false; null: faults, where cells are too small for numbers
    this.chosen = null; // the agents that the bar picks out, as text: a number, or "clash" for those in conflict
    this.under = null; // the agent under the pointer
    this.finer = 1; // times the pixels of the screen, for pictures that are saved
    this.isUsed = false; // by who plans or draws on the board with the pointer
    this.zoom = new Zoom(this);
    this.resized = new ResizeObserver(() => this.layout());
    this.restyled = new MutationObserver(() => this.layout());
    this.typed = (event) => this.key(event);
    this.takes = () => false; // whether somebody else has used a key that reaches the player
    this.laid = () => {}; // for who lays something over the board: it may have moved
  }

  show(data) {
    this.data = data;
    this.wire();
    this.find(".busy").hidden = !data.busy;
    this.find(".busy span").textContent = data.busy ?? "";
    const board = JSON.stringify(data.board);
    const signature = board + JSON.stringify([data.tracks, data.ghost, data.numbers, data.busy, data.asked]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.built = (this.built ?? 0) + 1;
      this.time = data.begin;
      if (board !== this.board || this.chosen === "clash") this.chosen = null; // another plan on the same board keeps the agent picked out
      this.board = board;
      this.under = null;
      this.held = new Set();
      const [{ conflicts }, another] = data.tracks;
      this.ghost = Boolean(data.ghost) && !another && (!conflicts || this.ghost === true); // who plans asks for the solution first
      this.build();
      this.play(data.autoplay && data.steps > 0 && !calm());
    }
    this.layout();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  wire() {
    this.find(".play").onclick = () => this.play(!this.playing);
    this.find(".back").onclick = () => this.step(-1);
    this.find(".forward").onclick = () => this.step(1);
    this.find(".scrub").oninput = (event) => this.seek(Number(event.target.value));
    this.find(".speed").onchange = () => this.box.focus();
    for (const name of ["ghost", "delays"]) this.find(`.${name}`).onclick = () => this.press(name);
    this.find(".trails").onclick = () => this.press("trails", !this.isTrailed);
    this.find(".clash").onclick = () => this.choose(this.chosen === "clash" ? null : "clash");
    this.find(".wanted").oninput = ({ target }) => this.choose(target.value === "" || !target.validity.valid ? null : target.value);
    this.find(".wanted").onkeydown = (event) => {
      if (event.key === "Escape") this.choose(null);
      if (event.key === "Escape" || event.key === "Enter") this.box.focus();
    };
    for (const name of HEATS) this.find(`.${name}`).onclick = () => this.press("heat", this.counts !== name && name);
    this.wireSaving();
    this.zoom.wire();
    this.box.onpointerdown = () => { driven.active = this; };
    this.find(".tracks").onpointermove = (event) => this.point(event);
    this.find(".tracks").onpointerleave = () => this.hover(null);
    this.find(".tracks").onclick = (event) => this.pick(event);
    this.resized.disconnect();
    this.resized.observe(this.box);
    watchTheme(this.restyled, this.root);
    document.removeEventListener("keydown", this.typed);
    document.addEventListener("keydown", this.typed);
    driven.active ??= this;
  }

  wireSaving() {
    const [picture, moving] = [this.find(".picture"), this.find(".film")];
    const close = () => { this.find(".save").open = false; };
    picture.onclick = () => { close(); savePicture(this); };
    moving.textContent = `Film (${filmKind()})`;
    moving.hidden = !film() || !this.data.steps;
    moving.onclick = () => {
      close();
      const saving = this.find(".save summary");
      moving.disabled = true;
      saveFilm(this, (part) => { saving.textContent = `Filming, ${part}`; }, () => {
        saving.textContent = "Save";
        moving.disabled = false;
      });
    };
  }

  close() {
    cancelAnimationFrame(this.tick);
    this.tick = 0;
    this.resized.disconnect();
    this.restyled.disconnect();
    document.removeEventListener("keydown", this.typed);
    if (driven.active === this) driven.active = null;
    if (this.playing) this.signature = ""; // a player that comes back starts anew
  }

  // Cells around the board.
  get margin() {
    return Math.max(this.data.margin, this.data.axes ? AXES : 0);
  }

  build() {
    const { tracks, steps, height, ghost, board } = this.data;
    const { margin } = this;
    this.box.style.setProperty("--board-height", `${height / 16}rem`);
    this.box.style.setProperty("--ratio", (board.rows.length + 2 * margin) / (board.rows[0].length + 2 * margin));
    this.views = tracks.map((track) => {
      const figure = document.createElement("figure");
      const add = (tag, name, text, parent = figure) => {
        const element = parent.appendChild(document.createElement(tag));
        element.className = name;
        element.textContent = text;
        return element;
      };
      const head = add("div", "head", "");
      add("span", "label", track.label, head);
      if (track.badge) add("span", `badge ${track.outcome}`, track.badge, head);
      const stage = add("div", "stage", "");
      const sheet = add("div", "sheet", "", stage);
      const canvas = add("canvas", "", "", sheet);
      canvas.setAttribute("role", "img");
      const faults = track.conflicts ?? (track.fault ? [track.fault] : []);
      const rings = faults.flatMap(({ time, marks }) => marks.map((cell) => ({ time, cell, element: add("div", "ring", "", sheet) })));
      const locks = (track.locks ?? []).map(({ agent, step, cell }) => {
        const element = add("div", "lock", "", sheet);
        element.style.setProperty("--color", agentColor(this.data.colors, agent));
        element.title = `Agent ${agent} must not be here at step ${step}`;
        return { step, cell, element };
      });
      const caption = add("figcaption", "", "");
      const paths = track.paths?.map(unpacked) ?? board.agents.map((agent) => [agent.start]);
      const arrivals = paths.map((path, i) => arrival(path, board.agents[i].goal));
      const ghosted = Boolean(ghost) && JSON.stringify(ghost) !== JSON.stringify(track.paths);
      const told = Math.min(track.fault ? track.fault.time : Math.max(...arrivals), steps); // when what becomes of the plan can be seen
      return { track, paths, arrivals, told, ghosted, figure, stage, sheet, canvas, caption, faults, rings, locks };
    });
    this.lake = new Lake(board);
    this.solution = ghost?.map(unpacked);
    const shape = [board.rows.length, board.rows[0].length].join();
    if (shape !== this.shape) this.zoom.fit();
    this.shape = shape;
    for (const view of this.views) view.heat = view.faults.length ? heatOf(this.lake, view.paths) : { total: 0, cells: [], agents: new Set() };
    const few = (this.find(".pick").hidden = this.isFew);
    this.find(".arrived").hidden = few || !tracks.some(({ outcome }) => outcome); // nobody is ever done where nothing is judged
    this.find(".wanted").max = board.agents.length - 1;
    this.find(".wanted").value = this.chosen ?? "";
    this.find(".clash").hidden = few || this.views.every(({ heat }) => !heat.agents.size);
    const alone = (this.find(".delays").hidden = board.agents.length < 2 || !tracks.some(({ paths }) => paths)); // nobody keeps a single agent waiting
    this.find(".faults").hidden = this.views.every(({ heat }) => heat.total < 2);
    this.find(".traffic").hidden = alone || !this.isOnDesk;
    this.find(".tracks").style.setProperty("--columns", columnsOf(tracks.length));
    this.find(".tracks").replaceChildren(...this.views.map((view) => view.figure));
    this.find(".bar").hidden = !steps;
    this.find(".scrub").max = steps;
    this.done = this.says = this.captions = null;
    this.find(".ghost").hidden = !this.views.some(({ ghosted }) => ghosted);
    this.find(".marks").replaceChildren(...this.views.flatMap(({ track, faults }) => (steps ? faults : []).map(({ time, words }) => {
      const mark = document.createElement("i");
      mark.style.setProperty("--at", Math.min(time / steps, 1));
      mark.title = words ?? `${track.label}: ${track.caption}`;
      return mark;
    })));
  }

  layout() {
    if (!this.views) return;
    this.colors = colorsOf(this.box, this.data.colors);
    this.font = getComputedStyle(this.box).fontFamily;
    const { data: { board, axes, numbers }, margin } = this;
    const [rows, cols] = [board.rows.length, board.rows[0].length];
    const ratio = (window.devicePixelRatio || 1) * this.finer;
    this.width = this.find(".scrub").clientWidth;
    const cell = () => Math.max(1, ...this.views.map(({ stage }) => frameFor(stage.clientWidth, stage.clientHeight, rows, cols, margin).cell));
    this.arrange(cell);
    this.makeRoom();
    this.zoom.limit(cell());
    for (const view of this.views) {
      const { clientWidth: width, clientHeight: height } = view.stage;
      const shape = [width, height, ratio, this.colors.name, this.built, this.zoom.by, this.zoom.at].join();
      if (!width || !height || view.shape === shape) continue;
      view.shape = shape;
      // The canvas is as large as the board, not as the room it has: what is empty need not be drawn.
      const { cell } = frameFor(width, height, rows, cols, margin);
      const [wide, high] = [cell * (cols + 2 * margin), cell * (rows + 2 * margin)];
      view.sheet.style.width = `${wide}px`;
      view.sheet.style.height = `${high}px`;
      view.frame = this.zoom.seen(frameFor(wide, high, rows, cols, margin), wide, high);
      view.ratio = ratio;
      view.on = cellsOn(view.frame, wide, high, rows, cols);
      const sheetOf = (canvas = document.createElement("canvas")) => {
        canvas.width = Math.round(wide * ratio);
        canvas.height = Math.round(high * ratio);
        return canvas.getContext("2d");
      };
      view.ctx = sheetOf(view.canvas);
      view.floor = sheetOf(view.floor?.canvas);
      view.floor.scale(ratio, ratio);
      drawFloor(view.floor, view.frame, board, this.colors, this.font, view.on);
      if (numbers) drawNumbers(view.floor, view.frame, numbers, this.colors, this.font);
      if (axes) drawAxes(view.floor, view.frame, rows, cols, getComputedStyle(this.box).color, this.font);
      view.still = sheetOf(view.still?.canvas);
      view.stands = "";
      const looks = [view.frame.cell, ratio, this.colors.name].join();
      if (view.looks !== looks) {
        view.looks = looks;
        view.stamps = { agent: [], ghost: [] };
      }
      [...view.rings, ...view.locks].forEach(({ cell: [r, c], element: { style } }) => {
        style.left = `${view.frame.x(c)}px`;
        style.top = `${view.frame.y(r)}px`;
        style.width = style.height = `${Math.max(view.frame.cell * 0.98, 4 * SPECK)}px`;
      });
    }
    this.laid();
    this.draw();
  }

  // Boards stand in two rows where they are larger so; on a phone many do, and two stand side by side that are small, on the desk where they are larger so.
  // `cell()`: how large their cells are as they stand.
  arrange(cell) {
    const shape = [this.built, innerWidth, innerHeight, this.box.clientWidth].join();
    if (shape === this.arranged) return; // they stay so whatever captions say: a page that is shorter for a moment jumps
    this.arranged = shape;
    const count = this.views.length, { classList } = this.find(".tracks");
    const sized = (many) => (classList.toggle("many", many), cell());
    const larger = () => sized(true) > sized(false);
    const isPhone = matchMedia("(max-width: 639px)").matches, isMany = count > MOST_IN_A_ROW;
    classList.toggle("many", isPhone ? isMany || (count === 2 && (this.isOnDesk ? larger() : this.isSmall)) : isMany && larger());
  }

  // Captions of several lines have their room from the boards.
  makeRoom() {
    const { classList, style } = this.find(".tracks"), { views } = this;
    const across = classList.contains("many") ? columnsOf(views.length) : views.length;
    const rows = views.filter((_, i) => i % across === 0).map((_, row) => views.slice(row * across, (row + 1) * across));
    const said = rows.map((row) => Math.max(...row.map(({ caption }) => caption.offsetHeight)));
    style.setProperty("--said", `${said.reduce((sum, height) => sum + height)}px`);
  }

  get isOnDesk() {
    return Boolean(this.box.closest(".desk"));
  }

  // What the heat map counts; false where there is none.
  get counts() {
    const name = this.heat ?? (this.views.some(({ frame, heat }) => frame && frame.cell < NUMBERS_FROM && heat.total > 1) && "faults");
    return name && !this.find(`.${name}`).hidden && name;
  }

  // Whether the trails of the team are drawn anew for each picture: they make room for each other as they grow.
  get isFew() {
    return this.data.board.agents.length <= MOST_SEEN;
  }

  get isSmall() {
    return this.data.board.rows[0].length <= SMALL;
  }

  get isTrailed() {
    return this.trails ?? this.data.board.agents.length <= MOST_TRAILED;
  }

  // The agents of a view that are picked out, the others being drawn faint; null where all are shown alike.
  pickedOf(view) {
    if (this.under !== null) return new Set([this.under]);
    return this.chosen === null ? null : this.chosen === "clash" ? view.heat.agents : new Set([Number(this.chosen)]);
  }

  // The picture of an agent or its ghost, which is drawn when it first comes into view.
  stampFor({ stamps, frame, ratio }, kind, i) {
    const paint = kind === "agent" ? (ctx, at) => drawAgent(ctx, at, [0, 0], i, this.colors, this.font) : (ctx, at) => drawGhost(ctx, at, [0, 0], i, this.colors);
    return (stamps[kind][i] ??= stampOf(frame, ratio, paint));
  }

  // The agents as they stand; `alphas(i)`: how opaque.
  drawTeam(view, places, alphas) {
    const { ctx, frame, on } = view;
    const picked = this.pickedOf(view);
    if (frame.cell >= SHAPES_FROM) {
      return spread(places).forEach((place, i) => {
        if (!isOn(on, place)) return;
        ctx.globalAlpha = alphas(i);
        stamp(ctx, frame, place, this.stampFor(view, "agent", i));
      });
    }
    const whole = alphas();
    ctx.globalAlpha = picked ? FAINT * whole : whole;
    drawSpecks(ctx, frame, places, SPECK_SIDE, SPECK, this.colors, (i) => isOn(on, places[i]));
    ctx.globalAlpha = whole;
    for (const i of picked ?? []) {
      ctx.beginPath();
      ctx.arc(frame.x(places[i][1]), frame.y(places[i][0]), 1.5 * SPECK, 0, 7);
      ctx.fillStyle = agentColor(this.colors, i);
      ctx.fill();
      ctx.lineWidth = 2;
      ctx.strokeStyle = this.colors.outline;
      ctx.stroke();
      const { goal: [r, c] } = this.data.board.agents[i];
      ctx.strokeRect(frame.x(c) - SPECK, frame.y(r) - SPECK, 2 * SPECK, 2 * SPECK);
    }
  }

  draw() {
    const { solution } = this;
    const ease = calm() ? floored : this.playing ? eased : linear;
    for (const view of this.views) {
      if (!view.frame) continue;
      const time = Math.min(this.time, this.endOf(view));
      const step = Math.floor(time + 1e-6);
      const { ctx, frame, paths, ratio, track: { fault, conflicts, absent = [] } } = view;
      const failed = !conflicts && Boolean(fault) && time >= fault.time - 1e-6;
      // What follows the first fault does not count: it is drawn faint.
      const alpha = failed && time > fault.time + 0.05 ? 0.45 : 1;
      this.drawStill(view, step, alpha);
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = 1;
      ctx.clearRect(0, 0, view.canvas.width, view.canvas.height);
      ctx.drawImage(view.still.canvas, 0, 0);
      ctx.scale(ratio, ratio);
      const shaped = frame.cell >= SHAPES_FROM;
      if (this.ghost && view.ghosted && shaped) {
        solution.forEach((path, i) => {
          const place = positionAt(path, time, ease);
          if (isOn(view.on, place)) stamp(ctx, frame, place, this.stampFor(view, "ghost", i));
        });
      }
      ctx.globalAlpha = alpha;
      const places = paths.map((path) => positionAt(path, time, ease));
      const picked = this.pickedOf(view);
      if (this.isTrailed && shaped && !picked) {
        const moved = ease(time - step);
        paths.forEach((path, i) => {
          if (!isOn(view.on, cellAt(path, step))) return;
          const trail = trailIn(paths, i, this.isFew ? step + moved : step + 1), next = pointsUpTo(trail, step, moved);
          const points = this.isFew ? [...pointsBetween(trail, this.tailOf(view, step), step), ...next.slice(1)] : next;
          drawTrail(ctx, frame, points, i, this.colors, TRAIL, { open: !this.isFew });
        });
        if (this.isFew) this.drawGoalNumbers(ctx, view, step);
      }
      this.drawTeam(view, places, (i) => ((!picked || i === undefined || picked.has(i)) && !absent.includes(i) ? alpha : FAINT * alpha));
      ctx.globalAlpha = alpha;
      this.latch(view.figure, "failed", failed);
      this.latch(view.figure, "told", this.time >= view.told - 1e-6); // a talk gives no verdict before
      for (const { step: locked, element } of view.locks) element.classList.toggle("now", Math.abs(time - locked) <= 0.5);
      for (const { time: broken, element } of view.rings) element.classList.toggle("now", failed || (Boolean(conflicts) && Math.abs(time - broken) <= 0.5));
    }
    this.drawBar(Math.floor(this.time + 1e-6));
    this.drawCaptions();
  }

  // Whether all begin again after a pause.
  get repeats() {
    return Boolean(this.data.loop && !this.data.once);
  }

  // What a plan that begins again has shown stays in sight.
  latch({ classList }, state, on) {
    classList.toggle(state, on || (this.repeats && this.playing && classList.contains(state)));
  }

  // The time at which the plan of a view stands still.
  endOf({ track: { fault } }) {
    return (this.data.loop && fault?.time) || this.data.steps;
  }

  // Whether nobody moves in the step after a time.
  isIdle(time) {
    const step = Math.floor(time + 1e-6);
    return this.views.every((view) => time >= this.endOf(view) || view.paths.every((path) => sameCell(cellAt(path, step), cellAt(path, step + 1))));
  }

  // How many steps later each agent arrives than it would alone; undefined for one that does not arrive.
  delaysOf(view) {
    view.delays ??= view.arrivals.map((time, i) => (time < Infinity ? time - this.lake.stepsAlone(i, view.paths[i][0]) : undefined));
    return view.delays;
  }

  // Of each cell what the heat map counts.
  heatMapOf(view) {
    return this.counts === "faults" ? view.heat.cells : (view.visits ??= visitsOf(view.paths));
  }

  drawCaptions() {
    const captions = [this.delays, this.counts, this.chosen].join();
    if (this.captions === captions) return;
    this.captions = captions;
    for (const view of this.views) {
      const { track: { label, badge, caption, last_words: lastWords, rule }, heat } = view;
      const said = { faults: () => heatSentence(heat), traffic: () => visitsSentence(this.heatMapOf(view)) }[this.counts];
      const more = [said?.(), this.delays ? delaySentence(this.delaysOf(view)) : "", this.chosenSentence(view)].filter(Boolean);
      const says = [more.length && /\w$/.test(caption) ? `${caption}.` : caption, ...more].filter(Boolean).join(" "); // a short caption is no sentence
      view.caption.textContent = says;
      if (lastWords) view.caption.appendChild(document.createElement("q")).textContent = lastWords;
      if (rule) view.caption.appendChild(Object.assign(document.createElement("small"), { textContent: `The rule. ${rule}` }));
      view.canvas.setAttribute("aria-label", `${label}: ${badge ?? ""} ${says} ${lastWords ?? ""}`);
    }
  }

  // What becomes of the agents that the bar picks out.
  chosenSentence({ arrivals, paths, heat }) {
    if (this.chosen === null) return "";
    if (this.chosen === "clash") return `${grouped(heat.agents.size)} of ${grouped(paths.length)} agents are in conflict.`;
    const i = Number(this.chosen);
    if (arrivals[i] === Infinity) return `Agent ${i} does not arrive.`;
    const late = arrivals[i] - this.lake.stepsAlone(i, paths[i][0]);
    return `Agent ${i} arrives at step ${grouped(arrivals[i])}${late > 0 ? `, ${grouped(late)} step${late === 1 ? "" : "s"} later than it would alone` : ""}.`;
  }

  // All that stands still during a step, on a canvas of its own: the floor, goals that are reached, the trails up to this step.
  drawStill(view, step, alpha) {
    const { solution, colors, data: { board } } = this;
    const stands = [step, alpha, this.isTrailed, this.ghost, this.delays, this.counts, this.chosen, this.under].join();
    if (view.stands === stands) return;
    view.stands = stands;
    const { still: ctx, frame, paths } = view;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalAlpha = 1;
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.drawImage(view.floor.canvas, 0, 0);
    ctx.scale(view.ratio, view.ratio);
    if (this.counts) drawHeat(ctx, frame, this.heatMapOf(view), this.colors);
    const picked = this.pickedOf(view);
    const seen = [...board.agents.keys()].filter((i) => !picked || picked.has(i));
    if (picked && frame.cell >= SHAPES_FROM) { // the goals and starts of the others go under thin ice
      ctx.fillStyle = colors.ice;
      ctx.globalAlpha = 1 - FAINT;
      for (const { start, goal } of board.agents.filter((_, i) => !picked.has(i))) {
        for (const cell of [start, goal]) if (isOn(view.on, cell)) box(ctx, frame, cell, 0.05, 0.12), ctx.fill();
      }
      ctx.globalAlpha = 1;
    }
    const home = seen.filter((i) => step >= view.arrivals[i] && isOn(view.on, board.agents[i].goal));
    const delays = this.delays ? this.delaysOf(view) : [];
    if (frame.cell < SHAPES_FROM) {
      const late = home.filter((i) => delays[i] > 0).map((i) => ({ cell: board.agents[i].goal, count: delays[i] }));
      if (late.length) drawHeat(ctx, frame, late, this.colors);
    } else {
      for (const i of home) {
        drawGoal(ctx, frame, board.agents[i].goal, i, this.colors, this.font, true);
        if (delays[i]) drawDelay(ctx, frame, board.agents[i].goal, delays[i], this.colors, this.font);
      }
    }
    if (this.ghost && view.ghosted) {
      solution.forEach((_, i) => drawTrail(ctx, frame, trailIn(solution, i).line, i, this.colors, 0.6, { dashed: true }));
    }
    ctx.globalAlpha = alpha;
    const tail = this.tailOf(view, step), isCrowd = picked?.size > MOST_TRAILED;
    const trail = (i, from, to) => drawTrail(ctx, frame, pointsBetween(trailIn(paths, i, to + 1, picked?.size === 1), from, to), i, this.colors, TRAIL);
    if (picked) for (const i of picked) trail(i, isCrowd ? tail : 0, isCrowd ? step : Infinity);
    else if (this.isTrailed && !this.isFew) paths.forEach((path, i) => { if (tail < path.length && isOn(view.on, cellAt(path, step))) trail(i, tail, step); });
    this.drawGoalNumbers(ctx, view, step, seen);
  }

  // The step at which the trails of a view begin.
  tailOf({ paths }, step) {
    return Math.max(0, step - (this.data.tail ?? (paths.length > MOST_TRAILED ? TAIL : Infinity)));
  }

  // The numbers of the goals that are not reached, over the trails and never faint with them.
  drawGoalNumbers(ctx, view, step, agents = [...view.paths.keys()]) {
    ctx.globalAlpha = 1;
    for (const i of agents) {
      const { goal } = this.data.board.agents[i];
      if (step < view.arrivals[i] && isOn(view.on, goal)) drawGoalNumber(ctx, view.frame, goal, i, this.colors, this.font);
    }
  }

  // The browser lays the page out anew for what is written here, so only what has changed is written.
  drawBar(step) {
    const { steps } = this.data;
    const done = Math.round((this.time / (steps || 1)) * (this.width || 1)); // pixels
    if (this.done !== done) {
      this.done = done;
      this.find(".scrub").value = this.time;
      this.find(".scrub").style.setProperty("--done", steps ? this.time / steps : 0);
    }
    const says = [step, steps, this.playing, this.isTrailed, this.ghost, this.delays, this.counts, this.chosen].join();
    if (this.says === says) return;
    this.says = says;
    this.find(".scrub").value = this.time;
    const moves = this.views.some(({ paths }) => paths.some(({ length }) => length > 1)); // or nothing is drawn yet
    this.find(".clock").textContent = `step ${grouped(step)}${moves ? ` / ${grouped(steps)}` : ""}`;
    this.find(".scrub").setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    this.find(".play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.box.classList.toggle("playing", this.playing);
    const home = this.views.map(({ arrivals }) => grouped(arrivals.filter((time) => time <= step).length));
    this.find(".arrived").textContent = `${[...new Set(home)].join(" and ")} of ${grouped(this.data.board.agents.length)} home`;
    for (const name of ["ghost", "delays"]) this.find(`.${name}`).setAttribute("aria-pressed", this[name]);
    this.find(".trails").setAttribute("aria-pressed", this.isTrailed);
    this.find(".clash").setAttribute("aria-pressed", this.chosen === "clash");
    for (const name of HEATS) this.find(`.${name}`).setAttribute("aria-pressed", this.counts === name);
  }

  play(on) {
    cancelAnimationFrame(this.tick);
    this.playing = Boolean(on) && this.data.steps > 0;
    if (this.playing && this.time >= this.data.steps) this.seek(0);
    if (this.playing) {
      const end = Math.max(...this.views.map((view) => this.endOf(view)));
      let last = performance.now();
      let hold = 0;
      const frame = (now) => {
        // A tab that slept must not jump: no frame counts for more than a tenth of a second.
        const passed = Math.min((now - last) / 1000, 0.1);
        last = now;
        hold = Math.max(0, hold - passed);
        if (this.repeats && !hold && this.time >= end) this.seek(0);
        if (!hold) {
          const before = this.time;
          const faster = this.data.loop && this.isIdle(before) ? IDLE : 1;
          let time = before + passed * STEPS_A_SECOND * faster * Number(this.find(".speed").value);
          for (const { track } of this.views) {
            const stop = track.fault?.time;
            if (stop !== undefined && before < stop && time >= stop && !this.held.has(stop)) {
              this.held.add(stop);
              time = stop;
              hold = HOLD_AT_FAULT;
            }
          }
          this.time = Math.min(time, end);
          if (this.time >= end && this.repeats) hold = HOLD_AT_END;
          else if (this.time >= end && !hold) this.playing = false;
          this.draw();
        }
        if (this.playing) this.tick = requestAnimationFrame(frame);
      };
      this.tick = requestAnimationFrame(frame);
    }
    if (this.views) this.draw();
  }

  seek(time) {
    this.time = Math.max(0, Math.min(time, this.data.steps));
    this.held = new Set();
    this.draw();
  }

  step(by) {
    this.play(false);
    this.seek(by > 0 ? Math.floor(this.time + 1e-6) + 1 : Math.ceil(this.time - 1e-6) - 1);
  }

  // The agent under the pointer is shown alone, on boards of every size: its whole way, and the others faint.
  point(event) {
    if (this.zoom.drag(event) || event.buttons || event.pointerType === "touch") return;
    this.hover(this.agentUnder(event));
  }

  hover(agent) {
    if (this.under === agent) return;
    this.under = agent;
    this.box.classList.toggle("pointed", agent !== null);
    this.draw();
  }

  // It stays picked out when it is clicked, until it is clicked again or something else is.
  pick(event) {
    if (this.isUsed || this.zoom.moved) return;
    const agent = this.agentUnder(event);
    const next = agent === null || this.chosen === String(agent) ? null : String(agent);
    if (next !== this.chosen) this.choose(next);
  }

  // The number of the agent under the pointer, or null.
  agentUnder(event) {
    const view = this.views.find(({ canvas }) => event.composedPath().includes(canvas.parentElement));
    if (!view?.frame) return null;
    const { left, top } = view.canvas.getBoundingClientRect();
    const reach = Math.max(SPECK, 0.4 * view.frame.cell);
    const near = ([r, c]) => Math.hypot(event.clientX - left - view.frame.x(c), event.clientY - top - view.frame.y(r)) < reach;
    const found = view.paths.findIndex((path) => near(positionAt(path, Math.min(this.time, this.endOf(view)), linear)));
    return found < 0 ? null : found;
  }

  // Picks out agents: the text of a number, "clash", or null for all alike.
  choose(agents) {
    this.chosen = agents;
    const isOne = agents !== null && agents !== "clash";
    this.find(".wanted").value = isOne ? agents : "";
    this.draw();
    if (isOne && this.zoom.by > 1) this.zoom.step(1);
  }

  // Where the one agent that is picked out stands; null where none is.
  get place() {
    const path = this.chosen === null ? null : this.views[0].paths[Number(this.chosen)];
    return path ? positionAt(path, this.time, linear) : null;
  }

  // The cell under the pointer on the first board; it may lie outside the board.
  cellUnder({ clientX, clientY }) {
    const [{ canvas, frame }] = this.views;
    const { left, top } = canvas.getBoundingClientRect();
    return [Math.floor((clientY - top - frame.top) / frame.cell), Math.floor((clientX - left - frame.left) / frame.cell)];
  }

  press(name, on = !this[name]) {
    this[name] = on;
    this.draw();
  }

  key(event) {
    const inside = event.composedPath().includes(this.box);
    const target = event.composedPath()[0];
    if (inside ? target.tagName === "SELECT" || target.type === "number" || (target.tagName === "BUTTON" && event.key === " ") : driven.active !== this || belongs(event)) return;
    if (this.takes(event)) return event.preventDefault();
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0),
      End: () => this.seek(this.data.steps),
      "+": () => this.zoom.step(A_STEP),
      "-": () => this.zoom.step(1 / A_STEP),
      a: () => { if (!this.find(".pick").hidden) this.find(".wanted").focus(); },
      c: () => { if (!this.find(".clash").hidden) this.find(".clash").click(); },
    };
    if (!actions[event.key] || (!this.data.steps && !"+-".includes(event.key)) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }
}

// The time from which the path stays on the goal.
function arrival(path, goal) {
  let time = path.length;
  while (time && path[time - 1][0] === goal[0] && path[time - 1][1] === goal[1]) time--;
  return time < path.length ? time : Infinity;
}

// A path of which only the first cell and the moves may be there.
function unpacked(path) {
  if (typeof path[1] !== "string") return path;
  let cell = path[0];
  return [cell, ...[...path[1]].map((letter) => (cell = [cell[0] + STEP_OF[letter][0], cell[1] + STEP_OF[letter][1]]))];
}

// Agents on one cell (a vertex conflict) are drawn a little apart, so that both are seen.
function spread(places) {
  const downwards = [...places.keys()].sort((i, j) => places[i][0] - places[j][0]);
  const crowds = places.map((_, i) => [i]); // of each agent those near it; of two rows apart none is
  downwards.forEach((i, n) => {
    for (let m = n + 1; m < downwards.length && places[downwards[m]][0] - places[i][0] < 0.3; m++) {
      const j = downwards[m];
      if (Math.abs(places[i][1] - places[j][1]) < 0.3) crowds[i].push(j), crowds[j].push(i);
    }
  });
  return places.map((place, i) => {
    const crowd = crowds[i];
    if (crowd.length < 2) return place;
    const angle = (2 * Math.PI * crowd.filter((j) => j < i).length) / crowd.length;
    return [place[0] + 0.16 * Math.sin(angle), place[1] - 0.16 * Math.cos(angle)];
  });
}

// How many faults the plan has, all of them and not only the first, and how many happen on each cell.
function heatOf(lake, paths) {
  const cells = new Map(), clash = new Set();
  let total = 0;
  for (const { fault, step, agents } of lake.faults(paths)) {
    if (fault === "goal_not_reached") continue;
    total++;
    for (const i of agents) clash.add(i);
    for (const cell of new Set(agents.map((i) => String(cellAt(paths[i], step))))) cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  return { total, agents: clash, cells: counted(cells) };
}

// How many agents come to each cell.
function visitsOf(paths) {
  const cells = new Map();
  for (const path of paths) for (const cell of new Set(path.map(String))) cells.set(cell, (cells.get(cell) ?? 0) + 1);
  return counted(cells);
}

const counted = (cells) => [...cells].map(([cell, count]) => ({ cell: cell.split(",").map(Number), count }));

function visitsSentence(cells) {
  const most = Math.max(...cells.map(({ count }) => count));
  return most > 1 ? `Up to ${grouped(most)} agents come to one cell.` : "No two agents come to one cell.";
}

function heatSentence({ total, cells }) {
  if (total < 2) return "";
  const where = cells.length === 1 ? "all on one cell" : `on ${grouped(cells.length)} cells, ${grouped(Math.max(...cells.map(({ count }) => count)))} on the worst`;
  return `${grouped(total)} faults in the whole plan, ${where}.`;
}

function delaySentence(delays) {
  const late = delays.map((steps, i) => [i, steps]).filter(([, steps]) => steps > 0);
  if (!late.length) return delays.some((steps) => steps === 0) ? "No agent is delayed by the others." : "";
  const all = late.reduce((sum, [, steps]) => sum + steps, 0);
  return `Delayed by the others: ${namesOf(late.map(([i]) => i))}, by ${grouped(all)} step${all === 1 ? "" : "s"}${late.length > 1 ? " in all" : ""}.`;
}
