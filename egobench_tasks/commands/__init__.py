"""The subcommands of `egobench`, by what they work on. Heavy imports wait inside the commands."""
