"""The figures that the lake counts on a suite, the paper's figures, and the page that compares them."""
