// A button that asks the browser for leave to notify, and notifications of jobs that have ended.

const WANTED = "frozenlab-notice"; // whether this reader wants them, and which were shown, in this browser
const KEPT = 50;

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing tells nothing twice within a page only
  }
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  if (!("Notification" in window)) return;
  const draw = () => {
    const on = read(WANTED, false) && Notification.permission === "granted";
    button.hidden = false;
    button.disabled = Notification.permission === "denied";
    button.textContent = on ? "Telling you when jobs are done" : button.disabled ? "Your browser blocks notifications" : "Tell me when jobs are done";
    button.setAttribute("aria-pressed", String(on));
  };
  button.onclick = async () => {
    if (Notification.permission !== "granted") await Notification.requestPermission();
    write(WANTED, Notification.permission === "granted" && !read(WANTED, false));
    draw();
  };
  draw();
  const told = read(`${WANTED}-told`, []);
  const news = data.ended.filter((job) => !told.includes(job.id));
  if (!news.length) return;
  write(`${WANTED}-told`, [...told, ...news.map((job) => job.id)].slice(-KEPT));
  if (!read(WANTED, false) || Notification.permission !== "granted") return;
  for (const job of news) new Notification(`${job.title}: ${job.status}`, { tag: job.id });
}
