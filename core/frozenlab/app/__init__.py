"""The pages about boards themselves: Design and Play."""
