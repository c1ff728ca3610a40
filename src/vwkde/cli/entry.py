"""Where the program starts: Ctrl-C while the commands are being loaded ends it at once, without a traceback."""

import signal


def main() -> None:
    """Load the commands and run one."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # Ctrl-C is ignored, as after nohup
        _run()
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import vwkde.cli.main  # noqa: F401  most of the time before a command starts
    from vwkde.cli.interrupts import Interrupt

    interrupt = Interrupt()
    signal.signal(signal.SIGINT, interrupt)
    try:
        _run()
    finally:
        interrupt.forget()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C does not wait for threads


def _run() -> None:
    from vwkde.cli.main import main as run

    run()
