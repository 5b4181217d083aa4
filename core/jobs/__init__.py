"""Work that outlives the page that started it: a folder, its state, a worker process, and whoever launches it."""
