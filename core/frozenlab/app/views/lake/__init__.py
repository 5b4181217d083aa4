"""How boards, plans and the search for them look: components, pictures, lists and share codes."""
