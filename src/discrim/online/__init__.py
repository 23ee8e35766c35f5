"""Row-by-row updates, and descent step by step."""
