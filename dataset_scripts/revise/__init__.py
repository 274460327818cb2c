"""`egobench review apply`: a raw release and what reviewers decided become a new raw release, for `egobench build`."""
