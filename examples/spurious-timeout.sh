rtolab run hold -s sack -s sack+frto --out out/hold
rtolab plot out/hold --between 0.5 5 --overlay --out spurious-timeout.svg
