// The player: one or several plans on the same board, in lockstep under one timeline.
// data: {board: {rows, agents}, tracks: [{label, outcome, badge, caption, paths, fault, conflicts, absent}], ghost, steps, begin, margin, height,
// autoplay, busy, colors}
// locks of a track: [{agent, step, cell}], where an agent must not be at a step; drawn at that step, and faint before and after.
// absent: agents of a track that have no path yet, drawn faint.
// paths: [agent][time] = [r, c]; fault: {time, marks: [[r, c]]} | null; null paths stand still.
// conflicts: all faults of a plan that somebody is working on; each is ringed at its time only, and nothing is drawn faint.
// The engine's rules find all faults of a track for the heat map, and the shortest ways for the delays.

const STEPS_A_SECOND = 2;
const HOLD_AT_FAULT = 0.9; // seconds
const TRAIL = 0.9; // opacity
const FAINT = 0.3; // of the opacity
const MOST_IN_A_ROW = 4; // boards; more stand in two rows
const driven = (globalThis.frozenlabPlayer ??= { active: null }); // the player that the keyboard drives from outside; one for all components
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
    this.trails = true;
    this.delays = false;
    this.heat = null; // null: where cells are too small for numbers
    this.alone = null; // the agent that is shown alone
    this.finer = 1; // times the pixels of the screen, for pictures that are saved
    this.isUsed = false; // by who plans or draws on the board with the pointer
    this.zoom = new Zoom(this);
    this.resized = new ResizeObserver(() => this.layout());
    this.restyled = new MutationObserver(() => this.layout());
    this.typed = (event) => this.key(event);
    this.takes = () => false; // whether somebody else has used a key that reaches the player
    this.laid = () => {}; // for who lays something over the board: it may have moved
    this.drawn = () => {}; // for who films
  }

  show(data) {
    this.data = data;
    this.wire();
    this.find(".busy").hidden = !data.busy;
    this.find(".busy span").textContent = data.busy ?? "";
    const signature = JSON.stringify([data.board, data.tracks, data.ghost]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.time = data.begin;
      this.alone = null;
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
    for (const name of ["trails", "ghost", "delays"]) this.find(`.${name}`).onclick = () => this.press(name);
    this.find(".heat").onclick = () => this.press("heat", !this.isHot);
    this.wireSaving();
    this.zoom.wire();
    this.box.onpointerdown = () => { driven.active = this; };
    this.find(".tracks").onpointermove = (event) => this.point(event);
    this.find(".tracks").onpointerleave = () => this.single(null);
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
    moving.textContent = film()?.startsWith("video/mp4") ? "Film (MP4)" : "Film (WebM)";
    moving.hidden = !film() || !this.data.steps;
    moving.onclick = () => {
      close();
      this.box.classList.add("filming");
      saveFilm(this, () => this.box.classList.remove("filming"));
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

  build() {
    const { tracks, steps, height, ghost, board, margin } = this.data;
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
      const paths = track.paths ?? board.agents.map((agent) => [agent.start]);
      const arrivals = paths.map((path, i) => arrival(path, board.agents[i].goal));
      const ghosted = Boolean(ghost) && JSON.stringify(ghost) !== JSON.stringify(track.paths);
      return { track, paths, arrivals, ghosted, figure, stage, sheet, canvas, caption, faults, rings, locks };
    });
    this.lake = new Lake(board);
    const shape = [board.rows.length, board.rows[0].length].join();
    if (shape !== this.shape) this.zoom.fit();
    this.shape = shape;
    for (const view of this.views) view.heat = view.faults.length ? heatOf(this.lake, view.paths) : { total: 0, cells: [] };
    this.find(".heat").hidden = this.views.every(({ heat }) => heat.total < 2);
    this.find(".delays").hidden = board.agents.length < 2 || !tracks.some(({ paths }) => paths); // nobody keeps a single agent waiting
    this.find(".tracks").classList.toggle("many", tracks.length > MOST_IN_A_ROW);
    this.find(".tracks").style.setProperty("--columns", Math.ceil(tracks.length / 2));
    this.find(".tracks").replaceChildren(...this.views.map((view) => view.figure));
    this.find(".bar").hidden = !steps;
    this.find(".scrub").max = steps;
    this.done = this.says = this.captions = null;
    this.find(".ghost").hidden = !ghost;
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
    const { board, ghost, margin } = this.data;
    const [rows, cols] = [board.rows.length, board.rows[0].length];
    const ratio = (window.devicePixelRatio || 1) * this.finer;
    this.width = this.find(".scrub").clientWidth;
    const sizes = this.views.map(({ stage }) => frameFor(stage.clientWidth, stage.clientHeight, rows, cols, margin).cell);
    this.zoom.limit(Math.max(1, ...sizes));
    for (const view of this.views) {
      const { clientWidth: width, clientHeight: height } = view.stage;
      const shape = [width, height, ratio, this.colors.name, this.signature, this.zoom.by, this.zoom.at].join();
      if (!width || !height || view.shape === shape) continue;
      view.shape = shape;
      // The canvas is as large as the board, not as the room it has: what is empty need not be drawn.
      const { cell } = frameFor(width, height, rows, cols, margin);
      const [wide, high] = [cell * (cols + 2 * margin), cell * (rows + 2 * margin)];
      view.sheet.style.width = `${wide}px`;
      view.sheet.style.height = `${high}px`;
      view.frame = this.zoom.seen(frameFor(wide, high, rows, cols, margin), wide, high);
      view.ratio = ratio;
      const sheetOf = (canvas = document.createElement("canvas")) => {
        canvas.width = Math.round(wide * ratio);
        canvas.height = Math.round(high * ratio);
        return canvas.getContext("2d");
      };
      view.ctx = sheetOf(view.canvas);
      view.floor = sheetOf(view.floor?.canvas);
      view.floor.scale(ratio, ratio);
      drawFloor(view.floor, view.frame, board, this.colors, this.font);
      view.still = sheetOf(view.still?.canvas);
      view.stands = "";
      const looks = [view.frame.cell, ratio, this.colors.name].join();
      if (view.looks !== looks) {
        view.looks = looks;
        view.agents = board.agents.map((_, i) => stampOf(view.frame, ratio, (ctx, at) => drawAgent(ctx, at, [0, 0], i, this.colors, this.font)));
        view.ghosts = ghost?.map((_, i) => stampOf(view.frame, ratio, (ctx, at) => drawGhost(ctx, at, [0, 0], i, this.colors)));
      }
      [...view.rings, ...view.locks].forEach(({ cell: [r, c], element: { style } }) => {
        style.left = `${view.frame.x(c)}px`;
        style.top = `${view.frame.y(r)}px`;
        style.width = style.height = `${view.frame.cell * 0.98}px`;
      });
    }
    this.laid();
    this.draw();
  }

  // Whether the cells are coloured by their faults.
  get isHot() {
    return this.heat ?? this.views.some(({ frame, heat }) => frame && frame.cell < NUMBERS_FROM && heat.total > 1);
  }

  draw() {
    const { ghost } = this.data;
    const ease = calm() ? floored : this.playing ? eased : linear;
    const step = Math.floor(this.time + 1e-6);
    for (const view of this.views) {
      if (!view.frame) continue;
      const { ctx, frame, paths, ratio, track: { fault, conflicts, absent = [] } } = view;
      const failed = !conflicts && Boolean(fault) && this.time >= fault.time - 1e-6;
      // What follows the first fault does not count: it is drawn faint.
      const alpha = failed && this.time > fault.time + 0.05 ? 0.45 : 1;
      this.drawStill(view, step, alpha);
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = 1;
      ctx.clearRect(0, 0, view.canvas.width, view.canvas.height);
      ctx.drawImage(view.still.canvas, 0, 0);
      ctx.scale(ratio, ratio);
      if (this.ghost && view.ghosted) ghost.forEach((path, i) => stamp(ctx, frame, positionAt(path, this.time, ease), view.ghosts[i]));
      ctx.globalAlpha = alpha;
      const places = paths.map((path) => positionAt(path, this.time, ease));
      if (this.trails) {
        places.forEach((place, i) => {
          const from = paths[i][step];
          if (this.alone === null && from && (from[0] !== place[0] || from[1] !== place[1])) {
            drawTrail(ctx, frame, [from, place], i, paths.length, this.colors, TRAIL, { open: true });
          }
        });
      }
      spread(places).forEach((place, i) => {
        ctx.globalAlpha = (this.alone === null || this.alone === i) && !absent.includes(i) ? alpha : FAINT * alpha;
        stamp(ctx, frame, place, view.agents[i]);
      });
      ctx.globalAlpha = alpha;
      view.figure.classList.toggle("failed", failed);
      for (const { step: locked, element } of view.locks) element.classList.toggle("now", Math.abs(this.time - locked) <= 0.5);
      for (const { time, element } of view.rings) element.classList.toggle("now", failed || (Boolean(conflicts) && Math.abs(this.time - time) <= 0.5));
    }
    this.drawBar(step);
    this.drawCaptions();
    this.drawn();
  }

  // How many steps later each agent arrives than it would alone; undefined for one that does not arrive.
  delaysOf(view) {
    view.delays ??= view.arrivals.map((time, i) => (time < Infinity ? time - this.lake.distancesToGoal(i).get(String(view.paths[i][0])) : undefined));
    return view.delays;
  }

  drawCaptions() {
    const captions = [this.delays, this.isHot].join();
    if (this.captions === captions) return;
    this.captions = captions;
    for (const view of this.views) {
      const { track: { label, badge, caption }, heat } = view;
      const says = [caption, this.isHot && heat.total > 1 ? heatSentence(heat) : "", this.delays ? delaySentence(this.delaysOf(view)) : ""].filter(Boolean).join(" ");
      view.caption.textContent = says;
      view.canvas.setAttribute("aria-label", `${label}: ${badge ?? ""} ${says}`);
    }
  }

  // All that stands still during a step, on a canvas of its own: the floor, goals that are reached, the trails up to this step.
  drawStill(view, step, alpha) {
    const { ghost, board } = this.data;
    const stands = [step, alpha, this.trails, this.ghost, this.delays, this.isHot, this.alone].join();
    if (view.stands === stands) return;
    view.stands = stands;
    const { still: ctx, frame, paths } = view;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalAlpha = 1;
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.drawImage(view.floor.canvas, 0, 0);
    ctx.scale(view.ratio, view.ratio);
    if (this.isHot) drawHeat(ctx, frame, view.heat.cells, this.colors);
    board.agents.forEach((agent, i) => {
      if (step < view.arrivals[i]) return;
      drawGoal(ctx, frame, agent.goal, i, this.colors, this.font, true);
      if (this.delays && this.delaysOf(view)[i]) drawDelay(ctx, frame, agent.goal, this.delaysOf(view)[i], this.colors, this.font);
    });
    if (this.ghost && view.ghosted) ghost.forEach((path, i) => drawTrail(ctx, frame, path, i, paths.length, this.colors, 0.6, { dashed: true }));
    ctx.globalAlpha = alpha;
    if (this.alone !== null) drawTrail(ctx, frame, paths[this.alone], this.alone, paths.length, this.colors, TRAIL);
    else if (this.trails) paths.forEach((path, i) => drawTrail(ctx, frame, path.slice(0, step + 1), i, paths.length, this.colors, TRAIL));
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
    const says = [step, steps, this.playing, this.trails, this.ghost, this.delays, this.isHot].join();
    if (this.says === says) return;
    this.says = says;
    this.find(".scrub").value = this.time;
    this.find(".clock").textContent = `step ${step} / ${steps}`;
    this.find(".scrub").setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    this.find(".play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.box.classList.toggle("playing", this.playing);
    for (const name of ["trails", "ghost", "delays"]) this.find(`.${name}`).setAttribute("aria-pressed", this[name]);
    this.find(".heat").setAttribute("aria-pressed", this.isHot);
  }

  play(on) {
    cancelAnimationFrame(this.tick);
    this.playing = Boolean(on) && this.data.steps > 0;
    if (this.playing && this.time >= this.data.steps) this.seek(0);
    if (this.playing) {
      let last = performance.now();
      let hold = 0;
      const frame = (now) => {
        // A tab that slept must not jump: no frame counts for more than a tenth of a second.
        const passed = Math.min((now - last) / 1000, 0.1);
        last = now;
        hold = Math.max(0, hold - passed);
        if (!hold) {
          const before = this.time;
          let time = before + passed * STEPS_A_SECOND * Number(this.find(".speed").value);
          for (const { track } of this.views) {
            const stop = track.fault?.time;
            if (stop !== undefined && before < stop && time >= stop && !this.held.has(stop)) {
              this.held.add(stop);
              time = stop;
              hold = HOLD_AT_FAULT;
            }
          }
          this.time = Math.min(time, this.data.steps);
          if (this.time >= this.data.steps && !hold) this.playing = false;
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

  // The agent under the pointer is shown alone: its whole way, and the others faint.
  point(event) {
    if (this.zoom.drag(event) || event.buttons || event.pointerType === "touch") return;
    const view = this.views.find(({ canvas }) => event.composedPath().includes(canvas.parentElement));
    if (!view?.frame) return this.single(null);
    const { left, top } = view.canvas.getBoundingClientRect();
    const near = ([r, c]) => Math.hypot(event.clientX - left - view.frame.x(c), event.clientY - top - view.frame.y(r)) < 0.4 * view.frame.cell;
    const found = view.paths.findIndex((path) => near(positionAt(path, this.time, linear)));
    this.single(found < 0 ? null : found);
  }

  single(agent) {
    if (this.alone === agent) return;
    this.alone = agent;
    this.draw();
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
    if (inside ? target.tagName === "SELECT" || (target.tagName === "BUTTON" && event.key === " ") : driven.active !== this || belongs(event)) return;
    if (this.takes(event)) return event.preventDefault();
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0),
      End: () => this.seek(this.data.steps),
      "+": () => this.zoom.to(this.zoom.by * A_STEP),
      "-": () => this.zoom.to(this.zoom.by / A_STEP),
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

// Agents on one cell (a vertex conflict) are drawn a little apart, so that both are seen.
function spread(places) {
  return places.map((place, i) => {
    let crowd = 0, rank = 0;
    for (let j = 0; j < places.length; j++) {
      if (Math.abs(place[0] - places[j][0]) < 0.3 && Math.abs(place[1] - places[j][1]) < 0.3) {
        crowd++;
        if (j < i) rank++;
      }
    }
    if (crowd < 2) return place;
    const angle = (2 * Math.PI * rank) / crowd;
    return [place[0] + 0.16 * Math.sin(angle), place[1] - 0.16 * Math.cos(angle)];
  });
}

// How many faults the plan has, all of them and not only the first, and how many happen on each cell.
function heatOf(lake, paths) {
  const cells = new Map();
  let total = 0;
  for (const { fault, step, agents } of lake.faults(paths)) {
    if (fault === "goal_not_reached") continue;
    total++;
    for (const cell of new Set(agents.map((i) => String(cellAt(paths[i], step))))) cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  return { total, cells: [...cells].map(([cell, count]) => ({ cell: cell.split(",").map(Number), count })) };
}

function heatSentence({ total, cells }) {
  const where = cells.length === 1 ? "all on one cell" : `on ${cells.length} cells, ${Math.max(...cells.map(({ count }) => count))} on the worst`;
  return `${total} faults in the whole plan, ${where}.`;
}

function delaySentence(delays) {
  const late = delays.map((steps, i) => [i, steps]).filter(([, steps]) => steps > 0);
  if (!late.length) return delays.some((steps) => steps === 0) ? "Nobody is later than alone." : "";
  const all = late.reduce((sum, [, steps]) => sum + steps, 0);
  return `Later than alone by ${all} step${all === 1 ? "" : "s"}${late.length > 1 ? " in all" : ""}: ${namesOf(late.map(([i]) => i))}.`;
}
