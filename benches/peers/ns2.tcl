# A benchmark scenario as ns-2 runs it fastest:  ns ns2.tcl KEY VALUE ...
#
# Prints `set_up_s run_s data_packets_delivered peak_memory_kB`. The keys, all of them needed:
#   scheduler    Calendar, Splay, Heap or List
#   flows        endless SACK transfers, started 2 ms apart
#   seconds      how long they go on
#   rate         of the bottleneck, in Mbit/s
#   delay        of the bottleneck, in ms, one way
#   queue        at the bottleneck, in packets; the oldest stay
#   access_rate  of each sender's own link to the bottleneck, in Mbit/s; its delay is 1 ms

set begin [clock microseconds]
array set case $argv

# Only the headers that TCP needs, for the least memory a packet.
remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ 1000              ;# the payload; headers add 40 B
Agent/TCP set window_ 100000                ;# never the limit

set ns [new Simulator]
$ns use-scheduler $case(scheduler)

set router [$ns node]
set sink [$ns node]
$ns duplex-link $router $sink $case(rate)Mb $case(delay)ms DropTail
$ns queue-limit $router $sink $case(queue)
$ns queue-limit $sink $router 1000000

for {set flow 0} {$flow < $case(flows)} {incr flow} {
    set host [$ns node]
    $ns duplex-link $host $router $case(access_rate)Mb 1ms DropTail
    $ns queue-limit $host $router 1000000
    $ns queue-limit $router $host 1000000

    set sender [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $host $sender
    $ns attach-agent $sink $receiver
    $ns connect $sender $receiver
    lappend receivers $receiver
    set transfer [new Application/FTP]
    $transfer attach-agent $sender
    $ns at [expr {0.002 * $flow}] "$transfer start"
}

# Routes are computed when the simulator starts, before the first event.
proc started {} {
    global running
    set running [clock microseconds]
}

proc finished {} {
    global begin running receivers
    set end [clock microseconds]
    set delivered 0
    foreach receiver $receivers {
        incr delivered [expr {[$receiver set bytes_] / 1040}]
    }
    regexp {VmHWM:\s+(\d+)} [read [open /proc/self/status]] -> peak
    puts [format "%.6f %.6f %d %d" [expr {($running - $begin) / 1e6}] \
        [expr {($end - $running) / 1e6}] $delivered $peak]
    exit 0
}

$ns at 0 started
$ns at $case(seconds) finished
$ns run
