"""Reports on runs and sweeps as an HTML page, as Markdown and as CSV."""
