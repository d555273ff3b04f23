#!/bin/sh
# The settings that the scripts in this folder rest on, made in the network namespace that they run
# in. Each argument sets one of them otherwise: `./settings.sh tcp_sack=0`.
set -eu

for setting in \
    tcp_timestamps=0 tcp_sack=1 tcp_dsack=1 tcp_window_scaling=1 tcp_ecn=0 \
    tcp_frto=2 tcp_recovery=1 tcp_early_retrans=0 tcp_reordering=3 \
    tcp_slow_start_after_idle=0 tcp_no_metrics_save=1 tcp_fastopen=0 \
    "tcp_rmem=4096 131072 6291456" "tcp_wmem=4096 262144 4194304" "$@"
do
    sysctl -q -w "net.ipv4.$setting"
done
