// The player as a component of its own.

const players = new WeakMap();

export default function ({ data, parentElement }) {
  const player = players.get(parentElement) ?? new Player(parentElement);
  players.set(parentElement, player);
  player.show(data);
  return () => player.close();
}
