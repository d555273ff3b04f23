rtolab sweep rto-min.toml --out out/rto-min
rtolab plot out/rto-min --measure timeouts --x-label "Minimum RTO (s)" --out rto-min.svg
