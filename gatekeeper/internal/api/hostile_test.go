package api

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/authority/authoritytest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// awaitClose waits for the server to close the connection.
func awaitClose(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, c)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // returned unwrapped by net
		t.Error("the server did not close the connection")
	}
}

// Connections that do not complete the handshake in time are closed, and other clients are served in the meantime.
func TestAPI_SlowHandshakes_TimeOutWhileOthersAreServed(t *testing.T) {
	ca := authoritytest.New(t)
	g := open(t, func(c *Config) {
		c.TLS = issue(ca, authority.Leaf{Name: "gk1", Server: true})
		c.Handshake = 500 * time.Millisecond
	})
	hello := "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("a", 500)
	var slow []net.Conn
	for i := range 64 {
		c := must(net.Dial("tcp", g.address))(t)
		t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, hello[:i]) // no connection sends a complete ClientHello, and the first sends nothing
		slow = append(slow, c)
	}
	// Some complete the TLS handshake but never start HTTP/2.
	for range 8 {
		c := must(tls.Dial("tcp", g.address, &tls.Config{RootCAs: ca.Pool(), NextProtos: []string{"h2"}}))(t)
		t.Cleanup(func() { c.Close() })
		slow = append(slow, c)
	}
	drip := make(chan struct{})
	go func() { // sending one byte at a time does not extend the time limit
		defer close(drip)
		for i := 63; i < len(hello); i++ {
			if _, err := slow[63].Write([]byte{hello[i]}); err != nil {
				return
			}
			select {
			case <-t.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	good := gatekeeperv1.NewClusterServiceClient(dial(t, g.address, clientCreds(t, ca, ca, nil)))
	if _, err := good.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Errorf("a valid call failed during the attack: %v", err)
	}
	for _, c := range slow {
		awaitClose(t, c)
	}
	<-drip
	if _, err := good.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Errorf("a valid call failed after the attack: %v", err)
	}
}

// Invalid HTTP/2 closes the connection, and an oversized message fails the call. Other calls are not affected.
func TestAPI_MalformedOrOversizedInput_IsRefused(t *testing.T) {
	g := open(t, func(c *Config) { c.Handshake = 500 * time.Millisecond })
	preface := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	settings := "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	for what, text := range map[string]string{
		"partial preface":  preface[:10],
		"HTTP/1":           "POST /gatekeeper.v1.PermitService/TryAcquire HTTP/1.1\r\nHost: a\r\n\r\n",
		"random bytes":     "\x00\xff\x13\x37" + strings.Repeat("\x9b\x1b[2J\n", 1000),
		"no settings":      preface + "\x00\x00\x08\x06\x00\x00\x00\x00\x00aaaaaaaa",
		"huge frame":       preface + settings + "\xff\xff\xff\x00\x00\x00\x00\x00\x01" + strings.Repeat("a", 1<<20),
		"stream ID 0":      preface + settings + "\x00\x00\x01\x01\x05\x00\x00\x00\x00\x88",
		"invalid headers":  preface + settings + "\x00\x00\x04\x01\x05\x00\x00\x00\x01\xff\xff\xff\xff",
		"endless settings": preface + strings.Repeat(settings, 100_000) + "\x00\x00\x00\x07\x00\x00\x00\x00\x01",
		"endless pings":    preface + settings + strings.Repeat("\x00\x00\x08\x06\x00\x00\x00\x00\x00aaaaaaaa", 10_000),
	} {
		t.Run(what, func(t *testing.T) {
			c := must(net.Dial("tcp", g.address))(t)
			defer c.Close()
			sent := make(chan struct{})
			go func() { // may block, because the server may stop reading
				defer close(sent)
				_, _ = io.WriteString(c, text)
			}()
			awaitClose(t, c)
			c.Close()
			<-sent
		})
	}
	if _, err := g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Fatalf("a valid call failed after malformed connections: %v", err)
	}
	header := metadata.AppendToOutgoingContext(ctx(t), "x", strings.Repeat("a", 2*maxHeaders))
	if _, err := g.cluster.GetStatus(header, &gatekeeperv1.GetStatusRequest{}); err == nil {
		t.Error("headers above the limit were accepted")
	}
	for _, size := range []int{MaxMessage + 1, maxReceived + 1} {
		_, err := g.cluster.RemoveMember(ctx(t), &gatekeeperv1.RemoveMemberRequest{Id: strings.Repeat("a", size)}, grpc.MaxCallSendMsgSize(1<<30))
		if code := status.Code(err); code != codes.InvalidArgument && code != codes.ResourceExhausted {
			t.Errorf("message with a field of %d bytes: got %v, want InvalidArgument or ResourceExhausted", size, err)
		}
	}
	if _, err := g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
		t.Errorf("a valid call failed after oversized calls: %v", err)
	}
}
