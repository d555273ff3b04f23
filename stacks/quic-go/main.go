// A transfer over quic-go, which writes qlog to $QLOGDIR: `transfer serve ADDRESS` answers each
// stream with as many bytes as its request asks for; `transfer get ADDRESS BYTES` requests them.
package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

const protocol = "transfer"

func main() {
	config := &quic.Config{Tracer: qlog.DefaultConnectionTracer}
	if os.Args[1] == "serve" {
		serve(os.Args[2], config)
		return
	}
	get(os.Args[2], os.Args[3], config)
}

func serve(address string, config *quic.Config) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(err)
	certificate := tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}
	settings := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{protocol}}
	listener, err := quic.ListenAddr(address, settings, config)
	check(err)
	for {
		connection, err := listener.Accept(context.Background())
		check(err)
		go func() {
			stream, err := connection.AcceptStream(context.Background())
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(stream).ReadString('\n')
			count, _ := strconv.Atoi(strings.TrimSpace(line))
			stream.Write(make([]byte, count))
			stream.Close()
		}()
	}
}

func get(address, count string, config *quic.Config) {
	settings := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
	connection, err := quic.DialAddr(context.Background(), address, settings, config)
	check(err)
	stream, err := connection.OpenStreamSync(context.Background())
	check(err)
	fmt.Fprintln(stream, count)
	stream.Close()
	_, err = io.Copy(io.Discard, stream)
	check(err)
	connection.CloseWithError(0, "")
	time.Sleep(20 * time.Millisecond) // The log is written meanwhile.
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
