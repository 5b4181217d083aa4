"""Background jobs, which outlive the page that started them: their folder, their state, their worker process and its launcher."""
