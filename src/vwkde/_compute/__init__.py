"""How and where to compute: blocks, threads, engines, clusters, and the kernel sums that everything uses."""
