"""EgoTempo's annotations and Ego4D's videos become a repository; nothing here concerns another benchmark."""
