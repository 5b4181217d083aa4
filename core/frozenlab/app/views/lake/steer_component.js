// Planning by hand as a component of its own.

const steers = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const steer = steers.get(parentElement) ?? new Steer(parentElement, new Player(parentElement.querySelector(".plan")));
  steers.set(parentElement, steer);
  steer.send = (plan) => setStateValue("plan", plan);
  steer.show(data);
  return () => steer.player.close();
}
