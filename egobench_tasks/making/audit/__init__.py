"""`egobench audit`: how sound are these questions? Findings name questions; nothing is dropped here."""
