"""Options of several commands of `vwkde inspect` about images and where they are computed."""

from typing import Annotated

import typer

Size = Annotated[
    str | None,
    typer.Option(
        metavar="WxH",
        help="Scale all images to this size, for example 512x512, so that they may differ. Default: as they are or, if "
        "most differ in size, their median size.",
        show_default=False,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="Compute on this torch device, for example cuda. Default: the CPU.", show_default=False),
]
Align = Annotated[
    bool, typer.Option("--align", help="Shift images to where good ones have the part, by up to a tenth of a side.")
]
Colour = Annotated[
    bool, typer.Option("--colour", help="Colours count as brightness does; takes three times as long. Default: gray.")
]
