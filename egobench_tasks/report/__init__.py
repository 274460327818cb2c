"""From runs to tables, figures and one page: where does a model fail, and how sure are we (PROTOCOL 1.4, 2)."""
