rtolab run hold -s sack -s sack+frto --out out/hold
rtolab plot out/hold --between 0.5 5 --out spurious-timeout.svg
