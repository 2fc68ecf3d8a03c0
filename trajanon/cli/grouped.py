"""Options in the named groups of a command's help."""

from collections import defaultdict
from typing import Any

from typer.core import TyperCommand


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each group of its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write them in the order in which the groups begin; typer does so for rich alone."""
        groups = defaultdict(list)
        for one in self.get_params(ctx):
            if (record := one.get_help_record(ctx)) is not None:
                other = "Arguments" if one.param_type_name == "argument" else "Options"
                groups[getattr(one, "rich_help_panel", None) or other].append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)
