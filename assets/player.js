// The player: one or several plans on the same board, in lockstep under one timeline.
// data: {board: {rows, agents}, tracks: [{label, outcome, badge, caption, paths, fault}], ghost, steps, begin, margin, height, autoplay, colors}
// paths: [agent][time] = [r, c]; fault: {time, marks: [[r, c]], agents} | null; null paths stand still.

const STEPS_A_SECOND = 2;
const HOLD_AT_FAULT = 0.9; // seconds
const players = new WeakMap();
let active = null; // the player that the keyboard drives when nothing has the focus
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const linear = (part) => part;
const eased = (part) => part + (part * part * (3 - 2 * part) - part) * 0.6;
const floored = () => 0;

export default function ({ data, parentElement }) {
  const player = players.get(parentElement) ?? new Player(parentElement);
  players.set(parentElement, player);
  player.show(data);
  return () => player.close();
}

class Player {
  constructor(root) {
    this.root = root;
    this.signature = "";
    this.time = 0;
    this.playing = false;
    this.trails = true;
    this.resized = new ResizeObserver(() => this.layout());
    this.restyled = new MutationObserver(() => this.layout());
    this.typed = (event) => this.key(event);
  }

  show(data) {
    this.data = data;
    this.wire();
    const signature = JSON.stringify([data.board, data.tracks, data.ghost]);
    if (signature !== this.signature) {
      this.signature = signature;
      this.time = data.begin;
      this.held = new Set();
      this.ghost = Boolean(data.ghost) && data.tracks.length === 1;
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
    this.box.onpointerdown = () => { active = this; };
    this.resized.disconnect();
    this.resized.observe(this.box);
    // Streamlit rewrites the variables of the theme on an element outside; the page's own style says when.
    this.restyled.disconnect();
    let node = this.root.host ?? this.root;
    for (; node; node = node.parentElement) this.restyled.observe(node, { attributes: true, attributeFilter: ["style", "class"] });
    document.removeEventListener("keydown", this.typed);
    document.addEventListener("keydown", this.typed);
    active ??= this;
  }

  close() {
    cancelAnimationFrame(this.tick);
    this.tick = 0;
    this.resized.disconnect();
    this.restyled.disconnect();
    document.removeEventListener("keydown", this.typed);
    if (active === this) active = null;
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
      const canvas = add("canvas", "", "", stage);
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${track.label}: ${track.badge ?? ""} ${track.caption}`);
      const rings = (track.fault?.marks ?? []).map(() => add("div", "ring", "", stage));
      const caption = add("figcaption", "", track.caption);
      return { track, figure, stage, canvas, rings, caption };
    });
    this.find(".tracks").replaceChildren(...this.views.map((view) => view.figure));
    this.find(".bar").hidden = !steps;
    this.find(".scrub").max = steps;
    this.find(".ghost").hidden = !ghost;
    this.find(".marks").replaceChildren(...this.views.filter((view) => view.track.fault && steps).map(({ track }) => {
      const mark = document.createElement("i");
      mark.style.setProperty("--at", Math.min(track.fault.time / steps, 1));
      mark.title = `${track.label}: ${track.caption}`;
      return mark;
    }));
  }

  layout() {
    if (!this.views) return;
    this.colors = colorsOf(this.box, this.data.colors);
    this.font = getComputedStyle(this.box).fontFamily;
    const { board, margin } = this.data;
    for (const view of this.views) {
      const { clientWidth: width, clientHeight: height } = view.stage;
      const ratio = window.devicePixelRatio || 1;
      const shape = [width, height, ratio, this.colors.name, this.signature].join();
      if (!width || !height || view.shape === shape) continue;
      view.shape = shape;
      view.canvas.width = Math.round(width * ratio);
      view.canvas.height = Math.round(height * ratio);
      view.frame = frameFor(width, height, board.rows.length, board.rows[0].length, margin);
      view.ratio = ratio;
      view.floor = document.createElement("canvas");
      view.floor.width = view.canvas.width;
      view.floor.height = view.canvas.height;
      const ctx = view.floor.getContext("2d");
      ctx.scale(ratio, ratio);
      drawFloor(ctx, view.frame, board, this.colors, this.font);
      view.rings.forEach((ring, n) => {
        const [r, c] = view.track.fault.marks[n];
        ring.style.left = `${view.frame.x(c)}px`;
        ring.style.top = `${view.frame.y(r)}px`;
        ring.style.width = ring.style.height = `${view.frame.cell * 0.98}px`;
      });
    }
    this.draw();
  }

  draw() {
    const { steps, ghost, board } = this.data;
    const ease = calm() ? floored : this.playing ? eased : linear;
    for (const view of this.views) {
      if (!view.frame) continue;
      const { paths, fault } = view.track;
      const ctx = view.canvas.getContext("2d");
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = 1;
      ctx.clearRect(0, 0, view.canvas.width, view.canvas.height);
      ctx.drawImage(view.floor, 0, 0);
      ctx.scale(view.ratio, view.ratio);
      const failed = Boolean(fault) && this.time >= fault.time - 1e-6;
      const shown = paths ?? board.agents.map((agent) => [agent.start]);
      const team = shown.length;
      shown.forEach((path, i) => {
        if (this.arrived(path, board.agents[i].goal)) drawGoal(ctx, view.frame, board.agents[i].goal, i, this.colors, this.font, true);
      });
      if (this.ghost && ghost && JSON.stringify(ghost) !== JSON.stringify(paths)) {
        ghost.forEach((path, i) => drawTrail(ctx, view.frame, path, i, team, this.colors, 0.6, true));
        ghost.forEach((path, i) => drawGhost(ctx, view.frame, positionAt(path, this.time, ease), i, this.colors));
      }
      // What follows the first fault does not count: it is drawn faint.
      ctx.globalAlpha = failed && this.time > fault.time + 0.05 ? 0.45 : 1;
      if (this.trails) shown.forEach((path, i) => drawTrail(ctx, view.frame, trailUntil(path, this.time, ease), i, team, this.colors, 0.6, false));
      const places = spread(shown.map((path) => positionAt(path, this.time, ease)));
      places.forEach((place, i) => drawAgent(ctx, view.frame, place, i, this.colors, this.font));
      view.figure.classList.toggle("failed", failed);
    }
    const step = Math.floor(this.time + 1e-6);
    const clock = this.find(".clock");
    if (clock.textContent !== `step ${step} / ${steps}`) clock.textContent = `step ${step} / ${steps}`;
    const scrub = this.find(".scrub");
    scrub.value = this.time;
    scrub.style.setProperty("--done", steps ? this.time / steps : 0);
    scrub.setAttribute("aria-valuetext", `step ${step} of ${steps}`);
    this.find(".play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.box.classList.toggle("playing", this.playing);
    this.find(".trails").setAttribute("aria-pressed", this.trails);
    this.find(".ghost").setAttribute("aria-pressed", this.ghost);
  }

  arrived(path, goal) {
    const at = Math.min(Math.floor(this.time + 1e-6), path.length - 1);
    return path.slice(at).every(([r, c]) => r === goal[0] && c === goal[1]);
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

  press(name) {
    this[name] = !this[name];
    this.draw();
  }

  key(event) {
    const inside = event.composedPath().includes(this.box);
    const elsewhere = document.activeElement && document.activeElement !== document.body;
    if (event.ctrlKey || event.metaKey || event.altKey || (!inside && (elsewhere || active !== this))) return;
    const target = event.composedPath()[0];
    if (inside && (target.tagName === "SELECT" || (target.tagName === "BUTTON" && event.key === " "))) return;
    const actions = {
      " ": () => this.play(!this.playing),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0),
      End: () => this.seek(this.data.steps),
    };
    if (!actions[event.key] || !this.data.steps) return;
    event.preventDefault();
    actions[event.key]();
  }
}

// Agents on one cell (a vertex conflict) are drawn a little apart, so that both are seen.
function spread(places) {
  return places.map(([r, c], i) => {
    const crowd = places.flatMap(([r2, c2], j) => (Math.hypot(r - r2, c - c2) < 0.3 ? [j] : []));
    if (crowd.length < 2) return [r, c];
    const angle = (2 * Math.PI * crowd.indexOf(i)) / crowd.length;
    return [r + 0.16 * Math.sin(angle), c - 0.16 * Math.cos(angle)];
  });
}
