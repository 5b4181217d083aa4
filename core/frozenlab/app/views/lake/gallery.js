// The gallery: small boards to choose from.
// data: {batch, items: [{board: {rows, agents}, caption}], selected, size, colors}; sends picked = {batch, index}.

const galleries = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const gallery = galleries.get(parentElement) ?? new Gallery(parentElement);
  galleries.set(parentElement, gallery);
  gallery.send = (picked) => setStateValue("picked", picked);
  gallery.show(data);
  return () => gallery.restyled.disconnect();
}

class Gallery {
  constructor(root) {
    this.root = root;
    this.restyled = new MutationObserver(() => this.draw());
  }

  show(data) {
    this.data = data;
    this.box = this.root.querySelector(".gallery");
    this.box.style.setProperty("--thumb", `${data.size / 16}rem`);
    watchTheme(this.restyled, this.root);
    if (this.batch !== data.batch) {
      this.batch = data.batch;
      this.box.replaceChildren(...data.items.map((item, index) => {
        const button = document.createElement("button");
        button.type = "button";
        button.appendChild(document.createElement("canvas")).setAttribute("aria-hidden", "true");
        button.appendChild(document.createElement("span")).textContent = item.caption;
        button.setAttribute("aria-label", `Board ${index + 1}: ${item.caption}`);
        button.onclick = () => this.pick(index);
        return button;
      }));
      this.drawn = null;
    }
    this.mark(data.selected);
    this.draw();
  }

  pick(index) {
    this.mark(index);
    this.send({ batch: this.batch, index });
  }

  mark(index) {
    [...this.box.children].forEach((button, i) => button.setAttribute("aria-pressed", i === index));
  }

  draw() {
    const colors = colorsOf(this.box, this.data.colors);
    const ratio = window.devicePixelRatio || 1;
    const side = (this.data.size / 16) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const state = [colors.name, ratio, side].join();
    if (this.drawn === state) return;
    this.drawn = state;
    const font = getComputedStyle(this.box).fontFamily;
    this.data.items.forEach(({ board }, index) => {
      const canvas = this.box.children[index].querySelector("canvas");
      canvas.width = canvas.height = Math.round(side * ratio);
      const ctx = canvas.getContext("2d");
      ctx.scale(ratio, ratio);
      const frame = frameFor(side, side, board.rows.length, board.rows[0].length, 0.05);
      drawFloor(ctx, frame, board, colors, font);
      board.agents.forEach((agent, i) => drawAgent(ctx, frame, agent.start, i, colors, font));
    });
  }
}
