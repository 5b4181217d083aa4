// A viewer of a job's feed. data: {feed, revision, beat, every}
//   feed: the address of a WebSocket, or null: all stands still
//   revision: what the page was drawn for; when the server names another one, the fragment runs again
//   beat: what the bar and the words show, or null; newer ones come through the feed
//   every: seconds after which the fragment runs again without a change, or null

const AGAIN = 5000; // ms until a lost feed is joined again; until then the page asks by itself
const PATIENCE = 20_000; // ms after which a run that was asked for is given up
const GONE = 4404; // the server knows no such job

function lasting(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
}

class Viewer {
  constructor(root) {
    this.root = root.querySelector(".beat");
    this.seen = () => document.hidden || this.draw(this.wanted);
    document.addEventListener("visibilitychange", this.seen);
    this.clock = setInterval(() => this.tick(), 1000);
  }

  // The page has been drawn.
  show({ feed, revision, beat, every }, run) {
    [this.revision, this.every, this.run] = [revision, every, run];
    this.drawn = performance.now();
    this.asked = null;
    if (beat) this.tell(beat);
    if (this.wanted === revision) this.wanted = null;
    if (feed !== this.feed) {
      this.leave();
      this.feed = feed;
      if (feed) this.join();
    }
    this.draw(this.wanted);
  }

  join() {
    const address = new URL(`${this.feed}?drawn=${this.revision}`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = (this.socket = new WebSocket(address));
    socket.onmessage = ({ data }) => {
      const { beat, draw } = JSON.parse(data);
      if (beat) this.tell(beat);
      if (draw) this.draw(draw);
    };
    socket.onclose = ({ code }) => {
      if (socket !== this.socket) return;
      this.draw("");
      if (code !== GONE) this.again = setTimeout(() => this.join(), AGAIN);
    };
  }

  leave() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    clearTimeout(this.again);
  }

  // Runs the fragment again: not while it is being run, and not for a page that nobody sees.
  draw(revision) {
    if (revision === null || revision === undefined || !this.feed) return;
    this.wanted = revision;
    if (document.hidden || (this.asked !== null && performance.now() - this.asked < PATIENCE)) return;
    this.asked = performance.now();
    this.wanted = null;
    this.run(revision);
  }

  tell(beat) {
    this.heard = performance.now();
    this.beat = beat;
    document.dispatchEvent(new CustomEvent("frozenlab-marks", { detail: beat.marks }));
    if (!this.root) return;
    const bar = this.root.querySelector(".bar");
    const percent = Math.round(100 * beat.progress);
    bar.setAttribute("aria-valuenow", percent);
    bar.setAttribute("aria-label", "Progress of the session");
    bar.firstElementChild.style.transform = `scaleX(${beat.progress})`;
    this.say(".words", beat.words);
    this.note();
  }

  note() {
    if (!this.root || !this.beat) return;
    const { began, age } = this.beat;
    const since = this.feed ? (performance.now() - this.heard) / 1000 : 0;
    const worker = age === null ? "The worker has not reported yet." : `Heard from the worker ${lasting(age + since)} ago.`;
    this.say(".note", `Began ${lasting(began + since)} ago. ${worker}`);
  }

  say(part, text) {
    const element = this.root.querySelector(part);
    if (element.textContent !== text) element.textContent = text;
  }

  tick() {
    if (document.hidden) return;
    this.note();
    if (this.every && performance.now() - this.drawn > 1000 * this.every) this.draw("");
  }

  close() {
    this.leave();
    clearInterval(this.clock);
    document.removeEventListener("visibilitychange", this.seen);
  }
}

const viewers = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const viewer = viewers.get(parentElement) ?? new Viewer(parentElement);
  viewers.set(parentElement, viewer);
  viewer.show(data, (revision) => setTriggerValue("changed", revision));
  return () => {
    viewers.delete(parentElement);
    viewer.close();
  };
}
