rtolab run outage -s sack -s linux --out out/outage \
    --set "link.radio.outages.scripted=[{ at = '3 s', for = '5 s' }]"
rtolab plot out/outage --between 2 14 --out backoff.svg
