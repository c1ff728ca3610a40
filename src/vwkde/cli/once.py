"""Commands that refuse an option given twice, where the last value alone would count without a word."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand


class OnceCommand(TyperCommand):
    """A command whose options with one value are given at most once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or fail if an option with one value is repeated."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, count in Counter(each for each in given if _takes_one_value(each)).items():
            if count > 1:
                ctx.fail(f"Option {max(option.opts, key=len)} was given {count} times; give it once")
        return super().parse_args(ctx, args)


class Commands(typer.Typer):
    """A group of such commands."""

    def command(self, *args: Any, **keywords: Any) -> Callable[[Any], Any]:
        """Return the decorator that makes a function a command of this group."""
        return super().command(*args, **({"cls": OnceCommand} | keywords))


def _takes_one_value(parameter: Any) -> bool:
    return parameter.param_type_name == "option" and not parameter.multiple and not parameter.is_flag
