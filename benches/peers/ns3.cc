// A benchmark scenario as ns-3 runs it fastest:  ns3 --flows=N --seconds=S ...
//
// Prints `set_up_s run_s data_packets_delivered peak_memory_kB`. Its event schedulers make no
// difference here. The keys, all of them needed:
//   flows        endless SACK transfers, started 2 ms apart
//   seconds      how long they go on
//   rate         of the bottleneck, in Mbit/s
//   delay        of the bottleneck, in ms, one way
//   queue        at the bottleneck, in packets; the oldest stay
//   access_rate  of each sender's own link to the bottleneck, in Mbit/s; its delay is 1 ms

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/nix-vector-routing-module.h>
#include <ns3/point-to-point-module.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

using namespace ns3;
using Clock = std::chrono::steady_clock;

namespace
{

constexpr uint32_t PAYLOAD = 1000;           // B; headers add 42, those of PPP included
constexpr uint32_t SEND_BUFFER = 1'000'000;  // B, never the limit: no flow has as much under way
constexpr uint32_t RECEIVE_BUFFER = 16'000'000;
constexpr uint16_t PORT = 9;

struct Case
{
    uint32_t flows = 0;
    double seconds = 0;
    double rate = 0;
    double delay = 0;
    uint32_t queue = 0;
    double accessRate = 0;
};

Case
Read(int argc, char* argv[])
{
    Case read;
    CommandLine line;
    line.AddValue("flows", "endless transfers", read.flows);
    line.AddValue("seconds", "simulated", read.seconds);
    line.AddValue("rate", "Mbit/s", read.rate);
    line.AddValue("delay", "ms", read.delay);
    line.AddValue("queue", "packets", read.queue);
    line.AddValue("access_rate", "Mbit/s", read.accessRate);
    line.Parse(argc, argv);
    return read;
}

void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1)); // an ACK a packet
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(SEND_BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(RECEIVE_BUFFER));
}

/// A link with a drop-tail queue at either end and no queueing discipline above it.
PointToPointHelper
Link(double megabits, double milliseconds, uint32_t queue)
{
    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(megabits * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(milliseconds * 1e3)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    return link;
}

double
SecondsSince(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The most memory that this process has had resident, in kB.
uint64_t
PeakMemory()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
    {
        std::istringstream words(line);
        std::string key;
        uint64_t peak = 0;
        if (words >> key >> peak && key == "VmHWM:")
        {
            return peak;
        }
    }
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    const auto begin = Clock::now();
    const Case chosen = Read(argc, argv);
    SetDefaults();

    Ptr<Node> router = CreateObject<Node>();
    Ptr<Node> sink = CreateObject<Node>();
    NodeContainer hosts(chosen.flows);

    // Of all its routing the one that does not walk a list of all routes at every packet.
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.SetIpv6StackInstall(false);
    stack.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const auto connect = [&](Ptr<Node> from, Ptr<Node> to, PointToPointHelper link) {
        const auto interfaces = addresses.Assign(link.Install(from, to));
        addresses.NewNetwork();
        return interfaces;
    };
    const auto bottleneck = Link(chosen.rate, chosen.delay, chosen.queue);
    const Ipv4Address target = connect(router, sink, bottleneck).GetAddress(1);

    const auto access = Link(chosen.accessRate, 1, 1'000'000);
    BulkSendHelper transfer("ns3::TcpSocketFactory", InetSocketAddress(target, PORT));
    transfer.SetAttribute("SendSize", UintegerValue(PAYLOAD));
    for (uint32_t flow = 0; flow < chosen.flows; ++flow)
    {
        connect(hosts.Get(flow), router, access);
        transfer.Install(hosts.Get(flow)).Start(MilliSeconds(2 * flow));
    }
    PacketSinkHelper receiver("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), PORT));
    const auto receivers = receiver.Install(sink);

    // The nodes start at the first instant, before what is scheduled here.
    auto running = begin;
    Simulator::Schedule(Seconds(0), [&running] { running = Clock::now(); });
    Simulator::Stop(Seconds(chosen.seconds));
    Simulator::Run();
    const double run = SecondsSince(running);
    const double setUp = std::chrono::duration<double>(running - begin).count();

    const uint64_t bytes = DynamicCast<PacketSink>(receivers.Get(0))->GetTotalRx();
    std::cout << std::fixed << std::setprecision(6) << setUp << ' ' << run << ' '
              << bytes / PAYLOAD << ' ' << PeakMemory() << '\n';
    Simulator::Destroy();
    return 0;
}
