"""Images judged in batches on a torch device, as the modules beside this package judge them one by one on the CPU.

A test compares both. Filters are products with matrices that SciPy and Pillow give, summed in double precision and
rounded where these round.
"""
