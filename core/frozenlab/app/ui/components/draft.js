// Keeps what a form holds in this browser, and gives it to the page once after a reload. data: {name, values, fresh}
//   values: what the form holds, or null while it holds what it begins with
//   fresh: nothing was entered since this page was loaded

export default function ({ parentElement, data, setTriggerValue }) {
  const name = `frozenlab-draft-${data.name}`;
  try {
    if (data.values) localStorage.setItem(name, JSON.stringify(data.values));
    else if (!data.fresh) localStorage.removeItem(name);
    else if (parentElement.looked !== name) {
      parentElement.looked = name;
      const kept = localStorage.getItem(name);
      if (kept) setTriggerValue("found", kept);
    }
  } catch {
    // a browser that keeps nothing: the draft lasts as long as the page
  }
}
