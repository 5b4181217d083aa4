// The search as a component of its own.

const searches = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const search = searches.get(parentElement) ?? new Search(parentElement);
  searches.set(parentElement, search);
  search.send = (solved) => setStateValue("solved", solved);
  search.show(data);
  return () => search.close();
}
