// Drawing a board on a canvas. Shared by the components; loaded in front of their own code.
// Units: cells. A point [r, c] is the middle of the cell in row r, column c; a `frame` maps it to CSS pixels.

function colorsOf(host, colors) {
  // The theme is told by the page's background: Streamlit hands its colours down as CSS variables.
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "#fff";
  const hex = probe.fillStyle;
  const channel = (i) => parseInt(hex.slice(i, i + 2), 16);
  const dark = hex.startsWith("#") && 0.3 * channel(1) + 0.59 * channel(3) + 0.11 * channel(5) < 110;
  return { ...colors[dark ? "dark" : "light"], agents: colors.agents, name: dark ? "dark" : "light" };
}

// Streamlit rewrites the variables of the theme on an element outside; the style and class of what lies around `root` say when.
function watchTheme(observer, root) {
  observer.disconnect();
  for (let node = root.host ?? root; node; node = node.parentElement ?? node.getRootNode().host) {
    observer.observe(node, { attributes: true, attributeFilter: ["style", "class"] });
  }
}

const grouped = (number) => number.toLocaleString("en"); // 1,846

const NUMBERS_FROM = 18; // pixels a cell: numbers in smaller ones cannot be read
const SHAPES_FROM = 7; // pixels a cell: smaller ones have one colour, without edges and hatching
const STARTS_FROM = 12; // pixels a cell: the dashes around smaller starts cannot be told apart
const SPECK = 4; // pixels that an agent has at least where cells have one colour; elsewhere agents and goals are twice as wide
const SPECK_SIDE = 1.3; // cells

function frameFor(width, height, rows, cols, margin) {
  const cell = Math.min(width / (cols + 2 * margin), height / (rows + 2 * margin));
  return framed(cell, (width - cell * cols) / 2, (height - cell * rows) / 2);
}

function framed(cell, left, top) {
  return { cell, left, top, x: (c) => left + (c + 0.5) * cell, y: (r) => top + (r + 0.5) * cell };
}

function box(ctx, frame, [r, c], inset, radius) {
  const side = frame.cell * (1 - 2 * inset);
  ctx.beginPath();
  ctx.roundRect(frame.x(c) - side / 2, frame.y(r) - side / 2, side, side, frame.cell * radius);
}

function agentColor(colors, i) {
  return colors.agents[i % colors.agents.length];
}

function inkOn(hex) {
  const v = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return 0.3 * v[0] + 0.59 * v[1] + 0.11 * v[2] > 128 ? "#0b1626" : "#ffffff";
}

// Strokes the path in `color` on a slightly wider `outline`: an agent's colour alone can be near that of the ice.
function outlined(ctx, colors, color, width, dash = []) {
  ctx.setLineDash(dash);
  for (const [style, wider] of [[colors.outline, 1.6], [color, 1]]) {
    ctx.strokeStyle = style;
    ctx.lineWidth = width * wider;
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

const ARROWS = { "^": 0, ">": 0.25, v: 0.5, "<": 0.75 }; // one-way ice -> turns from upwards

function isDoor(letter) {
  return letter >= "0" && letter <= "9";
}

// Two chevrons; the first is near the edge, where an agent on the cell does not cover it.
function drawArrow(ctx, frame, [r, c], turns, colors) {
  ctx.save();
  ctx.translate(frame.x(c), frame.y(r));
  ctx.rotate(turns * 2 * Math.PI);
  ctx.scale(frame.cell, frame.cell);
  ctx.beginPath();
  for (const tip of [-0.42, -0.1]) {
    ctx.moveTo(-0.3, tip + 0.26);
    ctx.lineTo(0, tip);
    ctx.lineTo(0.3, tip + 0.26);
  }
  ctx.lineWidth = 0.075;
  ctx.lineCap = ctx.lineJoin = "round";
  ctx.globalAlpha *= 0.8;
  ctx.strokeStyle = colors.outline;
  ctx.stroke();
  ctx.restore();
}

// Text around a point, on a halo [colour, width] if there is one.
function write(ctx, text, [x, y], font, color, halo = null) {
  ctx.font = font;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  if (halo) {
    [ctx.strokeStyle, ctx.lineWidth] = halo;
    ctx.lineJoin = "round";
    ctx.strokeText(text, x, y);
  }
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

const AXES = 0.34; // cells beside a board that is numbered

// The numbers of the rows and columns, beside the board.
function drawAxes(ctx, frame, rows, cols, ink, font) {
  const look = `600 ${Math.min(Math.max(frame.cell * AXES * 0.7, 10), 15)}px ${font}`;
  const beside = -0.5 - AXES / 2;
  for (let r = 0; r < rows; r++) write(ctx, String(r), [frame.x(beside), frame.y(r)], look, ink);
  for (let c = 0; c < cols; c++) write(ctx, String(c), [frame.x(c), frame.y(beside)], look, ink);
}

// Numbers of cells, null for none: in a corner, where no trail covers them, on the deeper blue the smaller they are.
function drawNumbers(ctx, frame, numbers, colors, font) {
  numbers.forEach((row, r) => row.forEach((number, c) => {
    if (number === null) return;
    box(ctx, frame, [r, c], 0.03, 0.14);
    ctx.save();
    ctx.globalAlpha *= Math.max(0.36 - 0.017 * number, 0.04);
    ctx.fillStyle = colors.blue;
    ctx.fill();
    ctx.restore();
    write(ctx, String(number), [frame.x(c + 0.31), frame.y(r + 0.32)], `700 ${frame.cell * 0.25}px ${font}`, colors.outline, [colors.ice, frame.cell * 0.06]);
  }));
}

// Two posts in the colour of the agent that has the key, with its number between them.
function drawDoor(ctx, frame, [r, c], i, colors, font) {
  const color = agentColor(colors, i);
  ctx.save();
  ctx.globalAlpha *= 0.3;
  box(ctx, frame, [r, c], 0.05, 0.12);
  ctx.fillStyle = color;
  ctx.fill();
  ctx.restore();
  for (const side of [-0.38, 0.38]) {
    ctx.beginPath();
    ctx.roundRect(frame.x(c) + (side - 0.07) * frame.cell, frame.y(r) - 0.42 * frame.cell, 0.14 * frame.cell, 0.84 * frame.cell, frame.cell * 0.04);
    ctx.fillStyle = color;
    ctx.fill();
    ctx.lineWidth = Math.max(0.8, frame.cell * 0.03);
    ctx.strokeStyle = colors.outline;
    ctx.stroke();
  }
  if (frame.cell < NUMBERS_FROM) return;
  write(ctx, String(i), [frame.x(c), frame.y(r) + frame.cell * 0.02], `600 ${frame.cell * 0.3}px ${font}`, colors.outline);
}

// The cells that lie on a sheet of this size, as [first row, last row, first column, last column].
function cellsOn(frame, wide, high, rows, cols) {
  const at = (pixels, start) => Math.floor((pixels - start) / frame.cell);
  return [Math.max(0, at(0, frame.top)), Math.min(rows - 1, at(high, frame.top)), Math.max(0, at(0, frame.left)), Math.min(cols - 1, at(wide, frame.left))];
}

const isOn = ([top, bottom, left, right], [r, c]) => r > top - 1.5 && r < bottom + 1.5 && c > left - 1.5 && c < right + 1.5;

const maps = new WeakMap(); // board -> its picture with one pixel a cell

function mapOf(board, colors) {
  const known = maps.get(board);
  if (known?.name === colors.name) return known.canvas;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [board.rows[0].length, board.rows.length];
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = colors.ice;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  board.rows.forEach((row, r) => {
    for (const { 0: run, index } of row.matchAll(/H+|[^FH]/g)) {
      ctx.fillStyle = run[0] === "H" ? colors.hole : isDoor(run) ? agentColor(colors, Number(run)) : colors.edge;
      ctx.fillRect(index, r, run.length, 1);
    }
  });
  maps.set(board, { name: colors.name, canvas });
  return canvas;
}

// Squares around the middles of cells, `side` cells wide and at least so many pixels: `places[i]` in the colour of agent i. The colours of
// a team repeat.
function drawSpecks(ctx, frame, places, side, least, colors, wanted = () => true) {
  const wide = Math.max(least, frame.cell * side), many = colors.agents.length;
  for (let color = 0; color < Math.min(many, places.length); color++) {
    ctx.fillStyle = colors.agents[color];
    for (let i = color; i < places.length; i += many) {
      if (wanted(i)) ctx.fillRect(frame.x(places[i][1]) - wide / 2, frame.y(places[i][0]) - wide / 2, wide, wide);
    }
  }
}

// `on`: the cells that are seen, as cellsOn has them.
function drawFloor(ctx, frame, board, colors, font, on = [0, board.rows.length - 1, 0, board.rows[0].length - 1]) {
  if (frame.cell < SHAPES_FROM) {
    const [rows, cols] = [board.rows.length, board.rows[0].length];
    ctx.imageSmoothingEnabled = frame.cell < 1;
    ctx.drawImage(mapOf(board, colors), frame.left, frame.top, cols * frame.cell, rows * frame.cell);
    const goals = board.agents.map(({ goal }) => goal);
    drawSpecks(ctx, frame, goals, SPECK_SIDE, 0, colors);
    return drawSpecks(ctx, frame, goals, 0.8, 0, { agents: [colors.ice] }); // hollow
  }
  board.rows.slice(on[0], on[1] + 1).forEach((row, down) => [...row.slice(on[2], on[3] + 1)].forEach((letter, across) => {
    const [r, c] = [on[0] + down, on[2] + across];
    box(ctx, frame, [r, c], 0.03, 0.14);
    ctx.fillStyle = letter === "H" ? colors.hole : colors.ice;
    ctx.fill();
    ctx.strokeStyle = colors.edge;
    ctx.lineWidth = Math.max(0.5, frame.cell * 0.02);
    ctx.stroke();
    if (letter in ARROWS) drawArrow(ctx, frame, [r, c], ARROWS[letter], colors);
    if (isDoor(letter)) drawDoor(ctx, frame, [r, c], Number(letter), colors, font);
    if (letter !== "H") return;
    ctx.save();
    ctx.clip();
    ctx.strokeStyle = colors.hatch;
    ctx.lineWidth = Math.max(1, frame.cell * 0.035);
    ctx.beginPath();
    for (let d = -1; d <= 1; d += 0.2) {
      ctx.moveTo(frame.x(c) + (d - 0.5) * frame.cell, frame.y(r) + 0.5 * frame.cell);
      ctx.lineTo(frame.x(c) + (d + 0.5) * frame.cell, frame.y(r) - 0.5 * frame.cell);
    }
    ctx.stroke();
    ctx.restore();
  }));
  board.agents.forEach((agent, i) => {
    if (isOn(on, agent.goal)) drawGoal(ctx, frame, agent.goal, i, colors, font, false);
    if (!isOn(on, agent.start) || frame.cell < STARTS_FROM) return;
    ctx.beginPath();
    ctx.arc(frame.x(agent.start[1]), frame.y(agent.start[0]), frame.cell * 0.27, 0, 7);
    outlined(ctx, colors, agentColor(colors, i), Math.max(1.5, frame.cell * 0.05), [frame.cell * 0.09, frame.cell * 0.07]);
  });
}

function drawGoal(ctx, frame, cell, i, colors, font, reached) {
  const color = agentColor(colors, i);
  box(ctx, frame, cell, Math.min(0.12, 0.5 - SPECK / frame.cell), 0.1);
  ctx.lineWidth = Math.max(2.5, frame.cell * 0.1);
  ctx.strokeStyle = colors.outline;
  ctx.stroke();
  ctx.lineWidth = Math.max(1.5, frame.cell * 0.065);
  ctx.strokeStyle = color;
  ctx.stroke();
  if (reached) {
    ctx.globalAlpha *= 0.45;
    ctx.fillStyle = color;
    ctx.fill();
    ctx.globalAlpha /= 0.45;
    return;
  }
  drawGoalNumber(ctx, frame, cell, i, colors, font);
}

const GOAL_DISC = 0.24; // radius of the ice under the number of a goal, in cells

// On a disc of ice: trails cross goals, and go on behind the number.
function drawGoalNumber(ctx, frame, [r, c], i, colors, font) {
  if (frame.cell < NUMBERS_FROM) return;
  ctx.beginPath();
  ctx.arc(frame.x(c), frame.y(r), frame.cell * GOAL_DISC, 0, 7);
  ctx.fillStyle = colors.ice;
  ctx.fill();
  write(ctx, String(i), [frame.x(c), frame.y(r) + frame.cell * 0.02], `700 ${frame.cell * 0.3}px ${font}`, colors.outline);
}

// The cells of `heat`, coloured by how much happens there.
function drawHeat(ctx, frame, heat, colors) {
  const most = Math.max(...heat.map(({ count }) => count));
  ctx.save();
  ctx.fillStyle = colors.accent;
  const wide = Math.max(1.5 * SPECK, frame.cell);
  for (const { cell, count } of heat) {
    ctx.globalAlpha = 0.2 + (0.6 * count) / most;
    if (frame.cell < SHAPES_FROM) ctx.fillRect(frame.x(cell[1]) - wide / 2, frame.y(cell[0]) - wide / 2, wide, wide);
    else box(ctx, frame, cell, 0.03, 0.14), ctx.fill();
  }
  ctx.restore();
}

// By how many steps the agent of a goal is late, at the corner that an agent on the goal leaves free.
function drawDelay(ctx, frame, [r, c], steps, colors, font) {
  if (frame.cell < NUMBERS_FROM) return;
  const [x, y] = [frame.x(c + 0.3), frame.y(r - 0.36)];
  ctx.beginPath();
  ctx.roundRect(x - 0.22 * frame.cell, y - 0.14 * frame.cell, 0.44 * frame.cell, 0.28 * frame.cell, 0.14 * frame.cell);
  ctx.fillStyle = colors.outline;
  ctx.fill();
  write(ctx, `+${steps}`, [x, y + frame.cell * 0.015], `700 ${frame.cell * 0.24}px ${font}`, colors.ice);
}

function drawAgent(ctx, frame, [r, c], i, colors, font) {
  const color = agentColor(colors, i);
  const small = frame.cell < NUMBERS_FROM;
  ctx.beginPath();
  ctx.arc(frame.x(c), frame.y(r), small ? Math.max(SPECK, frame.cell * 0.42) : frame.cell * 0.31, 0, 7);
  ctx.fillStyle = color;
  ctx.fill();
  ctx.lineWidth = small ? 1 : Math.max(1.5, frame.cell * 0.05);
  ctx.strokeStyle = colors.outline;
  ctx.stroke();
  if (frame.cell < NUMBERS_FROM) return;
  write(ctx, String(i), [frame.x(c), frame.y(r) + frame.cell * 0.02], `700 ${frame.cell * 0.34}px ${font}`, inkOn(color));
}

function drawGhost(ctx, frame, [r, c], i, colors) {
  ctx.save();
  ctx.globalAlpha *= 0.5;
  ctx.beginPath();
  ctx.arc(frame.x(c), frame.y(r), frame.cell * 0.37, 0, 7);
  ctx.fillStyle = agentColor(colors, i);
  ctx.globalAlpha *= 0.5;
  ctx.fill();
  ctx.globalAlpha *= 2;
  ctx.setLineDash([frame.cell * 0.1, frame.cell * 0.06]);
  ctx.lineWidth = Math.max(1.5, frame.cell * 0.045);
  ctx.strokeStyle = colors.outline;
  ctx.stroke();
  ctx.restore();
}

const LANE = 0.13; // cells between the trails of two agents that use the same edge
const BEND = 0.2; // of a move: a trail changes its lane on the first and last part
const STOPS = [0, BEND, 1 - BEND, 1];
const MOST_TRAILED = 100; // agents whose trails are drawn unasked, and kept apart
const teams = new WeakMap(); // the paths of a team -> its edges and the trails that were asked for last

// The edges that a team uses -> their agents -> the step in which each is there first.
function edgesOf(paths) {
  const edges = new Map();
  paths.forEach((path, i) => path.slice(1).forEach((cell, n) => {
    const key = edgeBetween(path[n], cell);
    if (!edges.has(key)) edges.set(key, new Map());
    if (!edges.get(key).has(i)) edges.get(key).set(i, n);
  }));
  return edges;
}

const edgeBetween = (...cells) => cells.map(String).sort().join();

const between = ([r1, c1], [r2, c2], part) => [r1 + (r2 - r1) * part, c1 + (c2 - c1) * part];

// The trail of agent i at a time: `at[n]` counts its moves up to step n; `line` has three points [r, c] a move, at the first three of STOPS, and its end.
// It runs through the middle of the cells; only on an edge that others have used, too, they keep apart: it makes room while the next one comes.
function trailOf(path, i, edges, time) {
  const cells = path.filter((cell, n) => !n || !sameCell(cell, path[n - 1]));
  let moves = -1;
  const at = path.map((cell, n) => (n && sameCell(cell, path[n - 1]) ? moves : ++moves));
  const lanes = cells.slice(1).map((cell, n) => {
    const team = [...(edges.get(edgeBetween(cells[n], cell)) ?? [])];
    const there = team.reduce((sum, [j, since]) => sum + Math.sign(i - j) * Math.max(0, Math.min(time - since, 1)), 0);
    const beside = (there / 2) * Math.min(LANE, 0.5 / team.length);
    return cells[n][0] === cell[0] ? [beside, undefined] : [undefined, beside];
  });
  const shifted = (place, near) => place.map((middle, axis) => {
    const known = near.map((lane) => lane[axis]).filter((beside) => beside !== undefined);
    return known.reduce((sum, beside) => sum + beside / known.length, middle);
  });
  const line = cells.flatMap((cell, n) => {
    if (n === lanes.length) return [cell];
    const onLane = (part) => shifted(between(cell, cells[n + 1], part), [lanes[n]]);
    return [n ? shifted(cell, [lanes[n - 1], lanes[n]]) : cell, onLane(BEND), onLane(1 - BEND)];
  });
  return { at, line };
}

// The trail of agent i of a team at a time, made once for each time; that of an agent which is shown alone has nobody beside it.
function trailIn(paths, i, time = Infinity, alone = false) {
  if (!teams.has(paths)) teams.set(paths, { edges: paths.length > MOST_TRAILED ? new Map() : edgesOf(paths), trails: [] });
  const { edges, trails } = teams.get(paths);
  if (alone) return trailOf(paths[i], i, new Map(), time);
  if (trails[i]?.time !== time) trails[i] = { time, ...trailOf(paths[i], i, edges, time) };
  return trails[i];
}

// The points of a trail between two steps, whole ones.
const pointsBetween = ({ at, line }, from, to) => line.slice(3 * at[Math.min(from, at.length - 1)], 3 * at[Math.min(to, at.length - 1)] + 1);

// The points of a trail from a step on, as far as `part` of the move after it.
function pointsUpTo(trail, step, part) {
  const points = pointsBetween(trail, step, step + 1);
  if (points.length < 2) return [];
  const last = part < BEND ? 0 : part < 1 - BEND ? 1 : 2;
  return [...points.slice(0, last + 1), between(points[last], points[last + 1], (part - STOPS[last]) / (STOPS[last + 1] - STOPS[last]))];
}

// `open`: the trail grows still; its ends are flat, so that it goes on seamlessly where another trail has ended.
function drawTrail(ctx, frame, points, i, colors, alpha, { dashed = false, open = false } = {}) {
  if (points.length < 2) return;
  ctx.save();
  ctx.globalAlpha *= alpha;
  ctx.lineJoin = "round";
  ctx.lineCap = open ? "butt" : "round";
  const width = Math.max(2, frame.cell * (dashed ? 0.05 : 0.085));
  ctx.beginPath();
  points.forEach(([r, c], n) => ctx[n ? "lineTo" : "moveTo"](frame.x(c), frame.y(r)));
  outlined(ctx, colors, agentColor(colors, i), width, dashed ? [frame.cell * 0.02, frame.cell * 0.13] : []);
  ctx.restore();
}

function positionAt(path, time, ease) {
  const step = Math.min(Math.floor(time), path.length - 1);
  const next = Math.min(step + 1, path.length - 1);
  return between(path[step], path[next], ease(time - Math.floor(time)));
}

// A picture of one cell that is drawn once and then stamped: letters and rings are laid out anew for no frame.
function stampOf(frame, ratio, paint) {
  const canvas = document.createElement("canvas");
  const side = Math.max(frame.cell * 1.2, 3 * SPECK);
  canvas.width = canvas.height = Math.max(1, Math.ceil(side * ratio));
  const ctx = canvas.getContext("2d");
  ctx.scale(ratio, ratio);
  paint(ctx, { cell: frame.cell, x: () => side / 2, y: () => side / 2 });
  return { canvas, side: canvas.width / ratio, middle: side / 2 };
}

function stamp(ctx, frame, [r, c], { canvas, side, middle }) {
  ctx.drawImage(canvas, frame.x(c) - middle, frame.y(r) - middle, side, side);
}
