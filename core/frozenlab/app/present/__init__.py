"""A session as a talk: scenes, the deck that plays them, one HTML file with all of it, and the page Present."""
