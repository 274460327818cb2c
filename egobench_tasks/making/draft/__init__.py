"""`egobench draft`: a model proposes questions on clips. Proposals are drafts: an audit and people come after."""
