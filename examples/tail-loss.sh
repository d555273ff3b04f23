rtolab run tail -s sack -s rack --out out/tail
rtolab plot out/tail --between 0 1.7 --out tail-loss.svg
