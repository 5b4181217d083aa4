// Pictures and films of what a player shows.

const MOST_IN_A_ROW = 4; // boards; more stand in two rows
const FILMS = ["video/mp4;codecs=avc1.42E028", "video/mp4", "video/webm;codecs=vp9", "video/webm"]; // the first that the browser can make
const FILM_SIZE = [1920, 1080]; // pixels
const PICTURE_SIDE = 1200; // pixels of a board, at least
const LAST_PICTURE = 2000; // milliseconds that a film stands still at its end
const film = () => globalThis.MediaRecorder && FILMS.find((type) => MediaRecorder.isTypeSupported(type));
const filmKind = () => (film()?.startsWith("video/mp4") ? "MP4" : "WebM");

// All boards of the player as they stand, with their labels above and what `says(view)` tells of them below, on `canvas`.
function draft(player, canvas, says) {
  const { colors, font, views } = player;
  const side = Math.max(...views.map(({ canvas: { width } }) => width));
  const high = Math.max(...views.map(({ canvas: { height } }) => height));
  const columns = views.length > MOST_IN_A_ROW ? Math.ceil(views.length / 2) : views.length;
  const gap = Math.round(side / 20), head = Math.round(side / 9), foot = Math.round(side / 14);
  const even = (length) => length + (length % 2); // what films ask for
  const size = [even(gap + columns * (side + gap)), even(Math.ceil(views.length / columns) * (head + high + foot))];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = colors.ground;
  ctx.fillRect(0, 0, ...size);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillStyle = colors.text;
  views.forEach((view, n) => {
    const left = gap + (n % columns) * (side + gap), top = Math.floor(n / columns) * (head + high + foot);
    ctx.font = `600 ${head * 0.42}px ${font}`;
    ctx.fillText([view.track.label, view.track.badge].filter(Boolean).join(" · "), left + side / 2, top + head / 2, side);
    ctx.font = `${foot * 0.48}px ${font}`;
    ctx.fillText(says(view), left + side / 2, top + head + high + foot / 2, side);
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
  const canvas = draft(player, document.createElement("canvas"), ({ track }) => track.caption);
  player.finer = 1;
  player.layout();
  canvas.toBlob((blob) => download(blob, "board.png"));
}

// Plays once from the beginning, and keeps what is seen, as large as the film; who pauses ends the film there.
function saveFilm(player, ended) {
  const step = () => player.find(".clock").textContent;
  const drafted = draft(player, document.createElement("canvas"), step), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = FILM_SIZE;
  player.finer = Math.min(canvas.width / drafted.width, canvas.height / drafted.height);
  player.layout();
  const show = () => {
    draft(player, drafted, step);
    const ctx = canvas.getContext("2d");
    ctx.fillStyle = player.colors.ground;
    ctx.fillRect(0, 0, ...FILM_SIZE);
    ctx.drawImage(drafted, Math.round((canvas.width - drafted.width) / 2), Math.round((canvas.height - drafted.height) / 2));
  };
  show();
  const type = film(), parts = [];
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: type, videoBitsPerSecond: 8e6 });
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    player.finer = 1;
    player.layout();
    download(new Blob(parts, { type }), `board.${filmKind().toLowerCase()}`);
    ended();
  };
  recorder.start();
  player.seek(0);
  player.drawn = () => {
    show();
    if (player.playing) return;
    player.drawn = () => {};
    setTimeout(() => recorder.stop(), LAST_PICTURE);
  };
  player.play(true);
}
