"""What the pages of a review and an exam share: layout, keys, clips loaded ahead; it knows neither."""
