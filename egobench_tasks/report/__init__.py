"""From runs to one page: where does a model fail, and how sure are we (PROTOCOL 1.4, 2); asks no model."""
