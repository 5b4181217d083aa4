// Pictures and films of what a player shows.

const MOST_IN_A_ROW = 3; // boards; more stand in two rows
const columnsOf = (boards) => (boards > MOST_IN_A_ROW ? Math.ceil(boards / 2) : boards);
const FILMS = ["video/mp4;codecs=avc1.42E028", "video/mp4", "video/webm;codecs=vp9", "video/webm"]; // the first that the browser can make
const FILM_SIZE = [1920, 1080]; // pixels
const PICTURE_SIDE = 1200; // pixels of a board, at least
const LAST_PICTURE = 2000; // milliseconds that a film stands still at its end
const film = () => globalThis.MediaRecorder && FILMS.find((type) => MediaRecorder.isTypeSupported(type));
const filmKind = () => (film()?.startsWith("video/mp4") ? "MP4" : "WebM");

// A text in lines that are no wider than `width`; a cell is not broken.
function wrapped(ctx, text, width) {
  return text.split(/ (?!-?\d+\))/).reduce((lines, word) => {
    const longer = `${lines.at(-1)} ${word}`.trim();
    return ctx.measureText(longer).width <= width ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, [""]);
}

// All boards of the player as they stand on `canvas`, with their labels above and their captions below. A film has a `clock` before these,
// and keeps their room free until the step that they tell of.
function draft(player, canvas, clock = null) {
  const { colors, font, views } = player;
  const ctx = canvas.getContext("2d");
  const side = Math.max(...views.map(({ canvas: { width } }) => width));
  const high = Math.max(...views.map(({ canvas: { height } }) => height));
  const columns = columnsOf(views.length);
  const gap = Math.round(side / 20), head = Math.round(side / 9), line = Math.round(side / 17);
  const small = `${line * 0.7}px ${font}`, above = clock === null ? [] : [clock];
  ctx.font = small;
  const says = views.map(({ track: { caption } }) => [...above, ...wrapped(ctx, caption, side)]);
  const foot = (Math.max(...says.map(({ length }) => length)) + 0.5) * line;
  const even = (length) => 2 * Math.ceil(length / 2); // what films ask for
  const size = [even(gap + columns * (side + gap)), even(Math.ceil(views.length / columns) * (head + high + foot))];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  ctx.fillStyle = colors.ground;
  ctx.fillRect(0, 0, ...size);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.text;
  views.forEach((view, n) => {
    const left = gap + (n % columns) * (side + gap), top = Math.floor(n / columns) * (head + high + foot);
    ctx.font = `600 ${head * 0.42}px ${font}`;
    ctx.fillText([view.track.label, view.track.badge].filter(Boolean).join(" · "), left + side / 2, top + head / 2, side);
    ctx.font = small;
    const told = clock === null || view.figure.classList.contains("told") ? says[n] : above;
    told.forEach((words, row) => ctx.fillText(words, left + side / 2, top + head + high + (row + 0.75) * line, side));
    const edge = left + (side - view.canvas.width) / 2;
    ctx.drawImage(view.canvas, edge, top + head);
    for (const ring of view.rings) if (ring.element.classList.contains("now")) drawRing(ctx, view, ring.cell, [edge, top + head], colors.accent);
  });
  return canvas;
}

// The page draws the ring around a fault beside the canvas; a picture has it as well.
function drawRing(ctx, { frame, ratio }, [r, c], [left, top], color) {
  ctx.beginPath();
  ctx.arc(left + frame.x(c) * ratio, top + frame.y(r) * ratio, frame.cell * ratio * 0.46, 0, 2 * Math.PI);
  ctx.lineWidth = frame.cell * ratio * 0.07;
  ctx.strokeStyle = color;
  ctx.stroke();
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function savePicture(player) {
  player.finer = Math.max(1, PICTURE_SIDE / player.views[0].canvas.width);
  player.layout();
  const canvas = draft(player, document.createElement("canvas"));
  player.finer = 1;
  player.layout();
  canvas.toBlob((blob) => download(blob, "board.png"));
}

// Plays once from the beginning, and keeps what is seen, as large as the film; who pauses ends the film there. `says(words)` hears how far it is.
function saveFilm(player, says, ended) {
  const clock = () => player.find(".clock").textContent;
  const { data: { steps, once } } = player;
  const drafted = draft(player, document.createElement("canvas"), clock()), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = FILM_SIZE;
  player.finer = Math.min(canvas.width / drafted.width, canvas.height / drafted.height);
  player.layout();
  const ctx = canvas.getContext("2d");
  const type = film(), parts = [];
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: 8e6 });
  let still = null; // since when the last picture stands
  // Each picture of the screen is one of the film, so that it lasts as long as it is seen.
  const roll = (now) => {
    draft(player, drafted, clock());
    ctx.fillStyle = player.colors.ground;
    ctx.fillRect(0, 0, ...FILM_SIZE);
    ctx.drawImage(drafted, Math.round((canvas.width - drafted.width) / 2), Math.round((canvas.height - drafted.height) / 2));
    says(`${Math.round((100 * player.time) / steps)} %`);
    if (!player.playing) still ??= now;
    if (still !== null && now > still + LAST_PICTURE) recorder.stop();
    else requestAnimationFrame(roll);
  };
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    player.data.once = once;
    player.finer = 1;
    player.layout();
    download(new Blob(parts, { type }), `board.${filmKind().toLowerCase()}`);
    ended();
  };
  player.data.once = true; // where plans begin again, too
  player.seek(0);
  player.play(true);
  recorder.start();
  requestAnimationFrame(roll);
}
