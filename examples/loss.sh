rtolab sweep loss.toml --out out/loss
rtolab plot out/loss --measure goodput_bps --x-label "Packet loss rate" --out loss.svg
