"""EgoGears' raw release becomes a repository; nothing here concerns another benchmark."""
