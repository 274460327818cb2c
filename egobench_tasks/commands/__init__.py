"""The subcommands of `egobench`, by what they work on; heavy imports wait inside them, logic lives elsewhere."""
