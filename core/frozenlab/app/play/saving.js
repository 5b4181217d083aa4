// The buttons that save what the page's board shows in this browser: a picture, and a film.
// data: {film: whether there is something to film}

export default function ({ data, parentElement }) {
  const [picture, moving] = parentElement.querySelectorAll("button");
  const player = () => globalThis.frozenlabPlayer.desk;
  const ready = () => {
    moving.textContent = `${filmKind()}, 1080p`;
    moving.disabled = false;
  };
  picture.onclick = () => savePicture(player());
  moving.onclick = () => {
    moving.disabled = true;
    saveFilm(player(), (part) => { moving.textContent = `Filming, ${part}`; }, ready);
  };
  moving.hidden = !data.film || !film();
  if (!moving.disabled) ready();
}
