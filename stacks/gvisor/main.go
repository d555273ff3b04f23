// A client and a server on gVisor's netstack, on the TUN device `stack0`, to be scored by `rtolab
// conform`: `transfer serve OWN-ADDRESS` answers each connection with as many bytes as its request
// asks for; `transfer get OWN-ADDRESS SERVER BYTES` requests them.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/link/tun"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	card = 1
	port = 9000
)

func main() {
	own := address(os.Args[2])
	netstack := host(own)
	if os.Args[1] == "serve" {
		serve(netstack, own)
		return
	}
	get(netstack, address(os.Args[3]), os.Args[4])
}

// host makes a stack with gVisor's own defaults and one card.
func host(own tcpip.Address) *stack.Stack {
	made := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	device, err := tun.Open("stack0")
	check(err)
	link, err := fdbased.New(&fdbased.Options{FDs: []int{device}, MTU: 1500})
	check(err)
	told(made.CreateNIC(card, link))
	protocol := tcpip.ProtocolAddress{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: own.WithPrefix(),
	}
	told(made.AddProtocolAddress(card, protocol, stack.AddressProperties{}))
	made.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: card}})
	return made
}

func serve(netstack *stack.Stack, own tcpip.Address) {
	at := tcpip.FullAddress{NIC: card, Addr: own, Port: port}
	listener, err := gonet.ListenTCP(netstack, at, ipv4.ProtocolNumber)
	check(err)
	for {
		connection, err := listener.Accept()
		check(err)
		go func() {
			line, _ := bufio.NewReader(connection).ReadString('\n')
			count, _ := strconv.Atoi(strings.TrimSpace(line))
			connection.Write(make([]byte, count))
			connection.Close()
		}()
	}
}

func get(netstack *stack.Stack, server tcpip.Address, count string) {
	at := tcpip.FullAddress{NIC: card, Addr: server, Port: port}
	connection, err := gonet.DialTCP(netstack, at, ipv4.ProtocolNumber)
	check(err)
	fmt.Fprintln(connection, count)
	wanted, err := strconv.ParseInt(count, 10, 64)
	check(err)
	_, err = io.CopyN(io.Discard, connection, wanted)
	check(err)
}

func address(text string) tcpip.Address {
	return tcpip.AddrFromSlice(net.ParseIP(text).To4())
}

func told(err tcpip.Error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
