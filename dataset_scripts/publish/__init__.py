"""`egobench publish`: a checked folder goes to the Hub and is loaded back; builds nothing."""
