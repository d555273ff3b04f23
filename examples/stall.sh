rtolab sweep stall.toml --out out/stall
rtolab plot out/stall --measure unneeded --x-label "Length of the stall (s)" --out stall.svg
