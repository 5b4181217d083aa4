// The desk: one board that is watched, planned on and drawn on, with a switch. It stays where it is, whatever is done with it.
// data: {turn, mode, looks, watch, plan, draw, drawable}: for the player, the steer and the editor; draw is null where a side is above `drawable`. `turn` counts how often the script has
// switched; between two turns the browser's own mode is the truth. When `looks` grows the window scrolls to the desk. Sends mode = {turn, mode}, and what steer and editor send.

const HANDS = ["watch", "plan", "draw"];
const desks = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const desk = desks.get(parentElement) ?? new Desk(parentElement);
  desks.set(parentElement, desk);
  desk.send = setStateValue;
  desk.show(data);
  return () => desk.player.close();
}

class Desk {
  constructor(root) {
    this.find = (selector) => root.querySelector(selector);
    this.player = new Player(this.find(".plan"));
    this.says = this.player.box.getAttribute("aria-label");
    this.steer = new Steer(this.find(".steer"), this.player);
    this.steer.saysFirst = true; // what is first to do, and the first of the conflicts, whose list is far away
    this.editor = new Editor(this.find(".editor"), this.player);
    this.steer.send = (plan) => this.send("plan", plan);
    this.editor.send = (edit) => this.send("edit", edit);
  }

  show(data) {
    if (data.looks > this.data?.looks) this.stayInView();
    this.data = data;
    driven.desk = this.player; // for the page's menu, which saves what it shows
    if (data.turn !== this.turn) {
      this.turn = data.turn;
      this.take(data.mode);
    }
    const buttons = [...this.find(".switch").children];
    for (const button of buttons) {
      button.onclick = () => {
        this.turnTo(button.value);
        if (button.value === "plan") this.player.box.focus({ preventScroll: true }); // its arrow keys are the agent's
      };
    }
    this.find(".switch").onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const offered = buttons.filter(({ disabled }) => !disabled);
      const next = offered[(HANDS.indexOf(this.mode) + by + offered.length) % offered.length];
      this.turnTo(next.value);
      next.focus();
    };
    this.draw();
    if (this.stays) this.find(".desk").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  }

  // The boards stay in view, however many come, until the reader touches the page again; play.css keeps the page where it is.
  stayInView() {
    this.stays = true;
    const main = document.querySelector('[data-testid="stMain"]');
    for (const touch of ["pointerdown", "wheel"]) main.addEventListener(touch, () => { this.stays = false; }, { once: true });
  }

  turnTo(mode) {
    if (mode === this.mode) return;
    this.take(mode);
    this.draw();
    this.send("mode", { turn: this.turn, mode });
  }

  take(mode) {
    this.mode = mode;
    this.player.ghost = false; // the solution that one has watched must not stand there for who plans
  }

  draw() {
    const { mode, data: { watch, plan, draw } } = this;
    this.layDown();
    for (const button of this.find(".switch").children) {
      button.setAttribute("aria-checked", button.value === mode);
      button.tabIndex = button.value === mode ? 0 : -1;
    }
    const pen = this.find('.switch [value="draw"]'), most = this.data.drawable;
    pen.disabled = !draw;
    pen.title = draw ? "Draw another board" : `Boards of up to ${most}×${most} cells can be drawn on`;
    this.find(".steer").hidden = mode !== "plan";
    this.find(".editor").hidden = mode !== "draw";
    const boards = mode === "watch" ? watch.tracks.length : 1;
    this.find(".desk").dataset.boards = boards > 2 ? "more" : boards;
    if (mode === "plan") this.steer.show(plan);
    else if (mode === "draw" && draw) this.editor.show(draw);
    else this.player.show(watch);
  }

  // Takes from the board what another hand has laid on it.
  layDown() {
    const { player } = this;
    player.isUsed = false;
    player.takes = () => false;
    player.laid = () => {};
    player.root.onpointerdown = null;
    player.root.classList.remove("steered", "drawn");
    player.box.setAttribute("aria-label", this.says);
  }
}
