// The player: one or several plans on the same board, in lockstep under one timeline.
// data: {board: {rows, agents}, tracks: [{label, outcome, badge, caption, paths, fault, conflicts}], ghost, steps, begin, margin, height,
// autoplay, busy, colors}
// locks of a track: [{agent, step, cell}], where an agent must not be at a step; drawn at that step, and faint before and after.
// paths: [agent][time] = [r, c]; fault: {time, marks: [[r, c]]} | null; null paths stand still.
// conflicts: all faults of a plan that somebody is working on; each is ringed at its time only, and nothing is drawn faint.

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
    this.signature = "";
    this.time = 0;
    this.playing = false;
    this.trails = true;
    this.alone = null; // the agent that is shown alone
    this.resized = new ResizeObserver(() => this.layout());
    this.restyled = new MutationObserver(() => this.layout());
    this.typed = (event) => this.key(event);
    this.takes = () => false; // whether somebody else has used a key that reaches the player
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
    this.box = this.find(".player");
    this.find(".play").onclick = () => this.play(!this.playing);
    this.find(".back").onclick = () => this.step(-1);
    this.find(".forward").onclick = () => this.step(1);
    this.find(".scrub").oninput = (event) => this.seek(Number(event.target.value));
    this.find(".speed").onchange = () => this.box.focus();
    this.find(".trails").onclick = () => this.press("trails");
    this.find(".ghost").onclick = () => this.press("ghost");
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
      canvas.setAttribute("aria-label", `${track.label}: ${track.badge ?? ""} ${track.caption}`);
      const faults = track.conflicts ?? (track.fault ? [track.fault] : []);
      const rings = faults.flatMap(({ time, marks }) => marks.map((cell) => ({ time, cell, element: add("div", "ring", "", sheet) })));
      const locks = (track.locks ?? []).map(({ agent, step, cell }) => {
        const element = add("div", "lock", "", sheet);
        element.style.setProperty("--color", agentColor(this.data.colors, agent));
        element.title = `Agent ${agent} must not be here at step ${step}`;
        return { step, cell, element };
      });
      add("figcaption", "", track.caption);
      const paths = track.paths ?? board.agents.map((agent) => [agent.start]);
      const arrivals = paths.map((path, i) => arrival(path, board.agents[i].goal));
      const ghosted = Boolean(ghost) && JSON.stringify(ghost) !== JSON.stringify(track.paths);
      return { track, paths, arrivals, ghosted, figure, stage, sheet, canvas, faults, rings, locks };
    });
    this.find(".tracks").classList.toggle("many", tracks.length > MOST_IN_A_ROW);
    this.find(".tracks").style.setProperty("--columns", Math.ceil(tracks.length / 2));
    this.find(".tracks").replaceChildren(...this.views.map((view) => view.figure));
    this.find(".bar").hidden = !steps;
    this.find(".scrub").max = steps;
    this.done = this.says = null;
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
    const ratio = window.devicePixelRatio || 1;
    this.width = this.find(".scrub").clientWidth;
    for (const view of this.views) {
      const { clientWidth: width, clientHeight: height } = view.stage;
      const shape = [width, height, ratio, this.colors.name, this.signature].join();
      if (!width || !height || view.shape === shape) continue;
      view.shape = shape;
      // The canvas is as large as the board, not as the room it has: what is empty need not be drawn.
      const { cell } = frameFor(width, height, rows, cols, margin);
      const [wide, high] = [cell * (cols + 2 * margin), cell * (rows + 2 * margin)];
      view.sheet.style.width = `${wide}px`;
      view.sheet.style.height = `${high}px`;
      view.frame = frameFor(wide, high, rows, cols, margin);
      view.ratio = ratio;
      const sheetOf = (canvas) => {
        canvas.width = Math.round(wide * ratio);
        canvas.height = Math.round(high * ratio);
        return canvas.getContext("2d");
      };
      view.ctx = sheetOf(view.canvas);
      view.floor = sheetOf(document.createElement("canvas"));
      view.floor.scale(ratio, ratio);
      drawFloor(view.floor, view.frame, board, this.colors, this.font);
      view.still = sheetOf(document.createElement("canvas"));
      view.stands = "";
      view.agents = board.agents.map((_, i) => stampOf(view.frame, ratio, (ctx, at) => drawAgent(ctx, at, [0, 0], i, this.colors, this.font)));
      view.ghosts = ghost?.map((_, i) => stampOf(view.frame, ratio, (ctx, at) => drawGhost(ctx, at, [0, 0], i, this.colors)));
      [...view.rings, ...view.locks].forEach(({ cell: [r, c], element: { style } }) => {
        style.left = `${view.frame.x(c)}px`;
        style.top = `${view.frame.y(r)}px`;
        style.width = style.height = `${view.frame.cell * 0.98}px`;
      });
    }
    this.draw();
  }

  draw() {
    const { ghost } = this.data;
    const ease = calm() ? floored : this.playing ? eased : linear;
    const step = Math.floor(this.time + 1e-6);
    for (const view of this.views) {
      if (!view.frame) continue;
      const { ctx, frame, paths, ratio, track: { fault, conflicts } } = view;
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
        ctx.globalAlpha = this.alone === null || this.alone === i ? alpha : FAINT * alpha;
        stamp(ctx, frame, place, view.agents[i]);
      });
      ctx.globalAlpha = alpha;
      view.figure.classList.toggle("failed", failed);
      for (const { step: locked, element } of view.locks) element.classList.toggle("now", Math.abs(this.time - locked) <= 0.5);
      for (const { time, element } of view.rings) element.classList.toggle("now", failed || (Boolean(conflicts) && Math.abs(this.time - time) <= 0.5));
    }
    this.drawBar(step);
  }

  // All that stands still during a step, on a canvas of its own: the floor, goals that are reached, the trails up to this step.
  drawStill(view, step, alpha) {
    const { ghost, board } = this.data;
    const stands = [step, alpha, this.trails, this.ghost, this.alone].join();
    if (view.stands === stands) return;
    view.stands = stands;
    const { still: ctx, frame, paths } = view;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.globalAlpha = 1;
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.drawImage(view.floor.canvas, 0, 0);
    ctx.scale(view.ratio, view.ratio);
    board.agents.forEach((agent, i) => {
      if (step >= view.arrivals[i]) drawGoal(ctx, frame, agent.goal, i, this.colors, this.font, true);
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
    const says = [step, steps, this.playing, this.trails, this.ghost].join();
    if (this.says === says) return;
    this.says = says;
    this.find(".scrub").value = this.time;
    this.find(".clock").textContent = `step ${step} / ${steps}`;
    this.find(".scrub").setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    this.find(".play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.box.classList.toggle("playing", this.playing);
    this.find(".trails").setAttribute("aria-pressed", this.trails);
    this.find(".ghost").setAttribute("aria-pressed", this.ghost);
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
    if (event.buttons || event.pointerType === "touch") return;
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

  press(name) {
    this[name] = !this[name];
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
    };
    if (!actions[event.key] || !this.data.steps || event.ctrlKey || event.metaKey || event.altKey) return;
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
