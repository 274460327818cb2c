"""A dataset row becomes the message that every host sends; knows no host and reads no answer."""
