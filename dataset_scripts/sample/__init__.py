"""The sample benchmark: rendered walks with scripted truth, and an oracle that reads them from pixels."""
