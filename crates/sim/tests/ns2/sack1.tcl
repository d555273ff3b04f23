# Runs one Sack1 flow of ns-2.35 over a link that loses scripted packets, and traces on the standard
# output what reaches the link's queue ("+", with its time, and its segment in the eleventh field),
# and timeouts and fast recoveries ("E").
#
#     ns sack1.tcl <key> <value> ...
#
# Keys: rate and delay of the link, window of the receiver (in segments; the first ssthresh, too),
# minrto and duration (seconds), bugfix and limited (are they on?), drops (which data packets are
# lost, counted from 0 as they are transmitted).

array set option {
    rate 1Mb delay 100ms window 64 minrto 0.2 duration 30 bugfix true limited 1 drops {}
}
array set option $argv

set ns [new Simulator]
$ns eventtrace-all stdout
set sender [$ns node]
set receiver [$ns node]
$ns simplex-link $sender $receiver $option(rate) $option(delay) DropTail
$ns simplex-link $receiver $sender 100Gb $option(delay) DropTail
$ns queue-limit $sender $receiver 10000
$ns queue-limit $receiver $sender 10000

if {[llength $option(drops)] > 0} {
    set losses [new ErrorModel/List]
    $losses droplist $option(drops)
    $losses drop-target [new Agent/Null]
    $ns link-lossmodel $losses $sender $receiver
}

set tcp [new Agent/TCP/Sack1]
$tcp set packetSize_ 576
$tcp set useHeaders_ false
$tcp set window_ $option(window)
$tcp set singledup_ $option(limited)
$tcp set bugFix_ $option(bugfix)
$tcp set syn_ false
$tcp set delay_growth_ false
$tcp set minrto_ $option(minrto)
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink
set transfer [new Application/FTP]
$transfer attach-agent $tcp

$ns trace-queue $sender $receiver stdout
$ns at 0 "$transfer start"
$ns at $option(duration) "exit 0"
$ns run
