rtolab sweep queue.toml --out out/queue
rtolab plot out/queue --measure delay_mean_s --x-label "Queue at the radio link (kB)" \
    --y-label "Mean one-way delay (ms)" --out queue.svg
