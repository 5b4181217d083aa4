// The deck on a page of the app.

const decks = new WeakMap();

export default function ({ data, parentElement }) {
  const deck = decks.get(parentElement) ?? new Deck(parentElement);
  decks.set(parentElement, deck);
  deck.show(data);
  return () => deck.close();
}
