// Which part of the boards is seen, the same part for all boards of a player. A point is [down, across], as parts of a board's sheet.

const NEAREST = 56; // pixels a cell, as far as one can zoom in
const A_STEP = 1.4; // times nearer with a press or a key
const WORTH_IT = 1.3; // times nearer: boards with larger cells need no zoom
const MIDDLE = [0.5, 0.5];
const within = (least, value, most) => Math.max(least, Math.min(value, most));

class Zoom {
  constructor(player) {
    this.player = player;
    this.fingers = new Map();
    this.moved = false; // whether the last press has dragged what is seen
    this.nearest = 1;
    this.fit();
  }

  // The whole board.
  fit() {
    this.by = 1;
    this.at = MIDDLE; // what is in the middle
  }

  wire() {
    const { player } = this;
    player.find(".nearer").onclick = () => this.step(A_STEP);
    player.find(".farther").onclick = () => this.step(1 / A_STEP);
    const tracks = player.find(".tracks");
    tracks.onwheel = (event) => this.turn(event);
    tracks.onpointerdown = (event) => this.press(event);
    tracks.onpointerup = tracks.onpointercancel = ({ pointerId }) => this.fingers.delete(pointerId);
  }

  // How near one can get where the whole board has cells of `cell` pixels.
  limit(cell) {
    this.nearest = Math.max(1, NEAREST / cell);
    this.by = Math.min(this.by, this.nearest);
    const offered = this.nearest >= WORTH_IT;
    this.player.find(".zoom").hidden = !offered;
    this.player.find(".nearer").disabled = this.by >= this.nearest;
    this.player.find(".farther").disabled = this.by <= 1;
    this.player.box.classList.toggle("zooms", offered);
    this.player.box.classList.toggle("zoomed", this.by > 1);
  }

  // The frame of the part that is seen; `whole` is that of the whole board on a sheet of this size in pixels.
  seen(whole, wide, high) {
    const [down, across] = this.at;
    return framed(whole.cell * this.by, wide / 2 + (whole.left - across * wide) * this.by, high / 2 + (whole.top - down * high) * this.by);
  }

  // What is under `point` stays there.
  to(by, point = MIDDLE) {
    const next = within(1, by, this.nearest);
    this.look(this.at.map((middle, axis) => middle + (point[axis] - 0.5) * (1 / this.by - 1 / next)), next);
  }

  // So many times nearer: about the agent that is picked out, else about the middle.
  step(by) {
    const { place, data: { board: { rows } } } = this.player;
    if (!place) return this.to(this.by * by);
    this.look([(place[0] + 0.5) / rows.length, (place[1] + 0.5) / rows[0].length], within(1, this.by * by, this.nearest));
  }

  look(at, by = this.by) {
    this.by = by;
    this.at = at.map((middle) => within(0.5 / by, middle, 1 - 0.5 / by));
    this.player.layout();
  }

  // Brings a cell into view, with the cells around it.
  reveal([r, c]) {
    if (this.by === 1) return;
    const { rows } = this.player.data.board;
    const side = 0.5 / this.by;
    const near = [[r, rows.length], [c, rows[0].length]].map(([place, cells], axis) =>
      within((place + 2) / cells - side, this.at[axis], (place - 1) / cells + side));
    this.look(near);
  }

  // Where the pointer is on the board under it; null beside the boards.
  pointOf({ clientX, clientY }) {
    for (const { sheet } of this.player.views) {
      const { left, top, width, height } = sheet.getBoundingClientRect();
      const point = [(clientY - top) / height, (clientX - left) / width];
      if (point.every((part) => part >= 0 && part <= 1)) return point;
    }
    return null;
  }

  // The wheel moves what is seen; with Ctrl, or two fingers on a pad, it zooms. On a whole board it scrolls the page.
  turn(event) {
    const point = this.pointOf(event);
    if (!point || this.nearest < WORTH_IT || (!event.ctrlKey && this.by === 1)) return;
    event.preventDefault();
    if (event.ctrlKey) return this.to(this.by * Math.exp(-event.deltaY / 100), point);
    const { width, height } = this.player.views[0].sheet.getBoundingClientRect();
    this.look([this.at[0] + event.deltaY / height / this.by, this.at[1] + event.deltaX / width / this.by]);
  }

  press(event) {
    const point = this.pointOf(event);
    this.moved = false;
    if (!point || event.button || this.player.isUsed) return;
    this.fingers.set(event.pointerId, point);
    if (this.by > 1) event.currentTarget.setPointerCapture(event.pointerId);
  }

  // Whether the pointer drags the board, or two fingers spread it.
  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before || this.player.isUsed) return false;
    const now = this.pointOf(event);
    if (!now) return true;
    const [other] = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    this.fingers.set(event.pointerId, now);
    if (other) {
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      this.to((this.by * apart(now)) / Math.max(apart(before), 0.01), now.map((part, axis) => (part + other[axis]) / 2));
    } else if (this.by > 1) {
      this.look(this.at.map((middle, axis) => middle - (now[axis] - before[axis]) / this.by));
    } else {
      return false;
    }
    this.moved = true;
    return true;
  }
}
