rtolab run frto2002-delays --sender sack --out out/capture
rtolab diagnose out/capture/run-0-sack-sender.pcapng --parquet out/diagnosis
rtolab plot out/diagnosis --table timeouts --measure after --by class --kind boxes \
    --y-label "Time from transmission to timeout (s)" --out capture.svg
