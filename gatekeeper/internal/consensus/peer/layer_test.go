package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a layer under test. It records the layer's log and callbacks.
type host struct {
	*Layer
	addr     string
	rejected chan struct{}

	mu         sync.Mutex // guards the fields below
	statements map[string]string
	log        bytes.Buffer
}

func newHost(t *testing.T, id string, adjust func(*Config)) *host {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &host{addr: listener.Addr().String(), rejected: make(chan struct{}, 1000), statements: make(map[string]string)}
	cfg := Config{
		Cluster: "c1", ID: id, APIAddress: id + ":7420", DataDir: "dir-" + id,
		Advertise: h.addr, Listener: listener,
		Logger:   slog.New(slog.NewTextHandler(lockedWriter{h}, nil)),
		OnReject: func() { h.rejected <- struct{}{} },
		CheckPeer: func(s Statement) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.statements[s.ID] = s.APIAddress + " " + s.DataDir
			if s.Verified {
				h.statements[s.ID] += " verified"
			}
			return nil
		},
	}
	if adjust != nil {
		adjust(&cfg)
	}
	h.Layer = New(cfg)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

type lockedWriter struct{ h *host }

func (w lockedWriter) Write(p []byte) (int, error) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	return w.h.log.Write(p)
}

func (h *host) statementFrom(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.statements[id]
}

func (h *host) logged() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.String()
}

func dial(h *host, id string, to *host) (net.Conn, error) {
	return h.Dial(Target(raft.ServerID(id), raft.ServerAddress(to.addr)), 5*time.Second)
}

// exchangeMessages dials, accepts, and sends a message in each direction.
func exchangeMessages(t *testing.T, from, to *host, toID string) {
	t.Helper()
	client, err := dial(from, toID, to)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := to.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		buf := make([]byte, 5)
		if _, err := pair[0].Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pair[1], buf); err != nil || string(buf) != "hello" {
			t.Fatalf("read %q, %v, want hello", buf, err)
		}
	}
}

func TestDial_BothSidesReceiveStatements(t *testing.T) {
	a, b := newHost(t, "a", nil), newHost(t, "b", nil)
	exchangeMessages(t, a, b, "b")
	if got := b.statementFrom("a"); got != "a:7420 dir-a" {
		t.Errorf("b received statement %q, want a's API address and data directory", got)
	}
	if got := a.statementFrom("b"); got != "b:7420 dir-b verified" {
		t.Errorf("a received statement %q, want b's API address and data directory, verified", got)
	}
	if got := a.Addr().String(); got != a.addr {
		t.Errorf("Addr() = %q, want the advertised %q", got, a.addr)
	}
}

func TestDial_OtherCluster_RefusalHidesReason(t *testing.T) {
	a := newHost(t, "a", func(c *Config) { c.Cluster = "c2" })
	b := newHost(t, "b", nil)
	_, err := dial(a, "b", b)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || refused.Reason != "" || strings.Contains(err.Error(), "c1") || !strings.Contains(err.Error(), "see its log for the reason") {
		t.Errorf("dial = %v, want a refusal without a reason", err)
	}
	<-b.rejected
	if !strings.Contains(b.logged(), "to cluster c1") || !strings.Contains(a.logged(), b.addr) || !strings.Contains(a.logged(), "see its log for the reason") {
		t.Errorf("a logged %q and b logged %q, want the reason in b's log and a reference to it in a's", a.logged(), b.logged())
	}
	before := len(b.logged())
	_, _ = dial(a, "b", b)
	<-b.rejected
	if len(b.logged()) != before {
		t.Error("the same warning was logged twice within a minute")
	}
}

// laterIncarnations makes c1, c2 and c3 consecutive incarnations of a cluster.
func laterIncarnations(c *Config) {
	c.Succeeds = func(later, earlier string) bool { return later > earlier && later[0] == 'c' && earlier[0] == 'c' }
}

func TestAccept_ClaimOfLaterIncarnation_OnlyTriggersDial(t *testing.T) {
	claimed := make(chan struct{}, 1)
	b := newHost(t, "b", func(c *Config) {
		laterIncarnations(c)
		c.OnClaim = func() { claimed <- struct{}{} }
		c.OnSuccessor = func(reported string) { t.Errorf("OnSuccessor was called with %q", reported) }
	})
	conn, err := net.Dial("tcp", b.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := writeHello(conn, hello{Cluster: "c9", From: "a", To: "b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := readHello(conn); err == nil {
		t.Error("a peer that claims to belong to a later incarnation was accepted")
	}
	<-claimed
	<-b.rejected
}

func TestDial_MemberOfLaterIncarnation_ReportsSuccessor(t *testing.T) {
	reported := make(chan string, 1)
	a := newHost(t, "a", func(c *Config) {
		laterIncarnations(c)
		c.OnSuccessor = func(reason string) { reported <- reason }
	})
	b := newHost(t, "b", func(c *Config) {
		laterIncarnations(c)
		c.Cluster = "c2"
	})
	if _, err := dial(a, "b", b); err == nil {
		t.Error("a member of a later incarnation accepted a peer from an earlier one")
	}
	if got := <-reported; !strings.Contains(got, "c2") || !strings.Contains(got, b.addr) {
		t.Errorf("OnSuccessor received %q, want the cluster and the address of b", got)
	}
	<-b.rejected
}

func TestWarnRateLimited_ManyHosts_MemoryIsBounded(t *testing.T) {
	b := newHost(t, "b", nil)
	for i := range 3 * maxWarned {
		b.warnRateLimited(fmt.Sprint(i), "refused a peer")
	}
	b.Layer.mu.Lock()
	defer b.Layer.mu.Unlock()
	if n := len(b.lastLogged); n > maxWarned {
		t.Errorf("lastLogged has %d hosts, want at most %d", n, maxWarned)
	}
}

func TestDial_OtherMember_IsRefused(t *testing.T) {
	a, b := newHost(t, "a", nil), newHost(t, "b", nil)
	if _, err := dial(a, "c", b); err == nil || !strings.Contains(err.Error(), "this is b, not c") {
		t.Errorf("dial = %v, want a refusal that names both members", err)
	}
	<-b.rejected
}

// The dialer must refuse the wrong server itself, because that server may not check which member was dialed.
func TestDial_WrongMemberAnswers_IsRefusedByDialer(t *testing.T) {
	a := newHost(t, "a", nil)
	for answer, want := range map[hello]string{
		{Cluster: "c1", From: "b", To: "a"}: `member "b" answered`,
		{Cluster: "c2", From: "c", To: "a"}: "to cluster c2",
		{Cluster: "c1", From: "c", To: "x"}: "this is a, not x",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = readHello(conn)
			_ = writeHello(conn, answer)
			_, _ = io.Copy(io.Discard, conn)
		})
		_, err = a.Dial(Target("c", raft.ServerAddress(listener.Addr().String())), time.Second)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("dial = %v, want %q", err, want)
		}
		listener.Close()
		wg.Wait()
	}
}

func TestDial_CheckPeerFails_IsRefused(t *testing.T) {
	a := newHost(t, "a", nil)
	b := newHost(t, "b", func(c *Config) {
		c.CheckPeer = func(Statement) error { return errors.New("its directory is new") }
	})
	_, err := dial(a, "b", b)
	refused, ok := errors.AsType[*RefusedError](err)
	if !ok || !strings.Contains(err.Error(), "its directory is new") || refused.Removed {
		t.Errorf("dial = %v, want the error from CheckPeer", err)
	}
}

func TestDial_RemovedMember_GetsErrRemoved(t *testing.T) {
	a := newHost(t, "a", nil)
	b := newHost(t, "b", func(c *Config) {
		c.CheckPeer = func(s Statement) error { return fmt.Errorf("%s: %w", s.ID, ErrRemoved) }
	})
	_, err := dial(a, "b", b)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || !refused.Removed || !strings.Contains(refused.Reason, "a: it was removed") {
		t.Errorf("dial = %v, want a refusal with Removed", err)
	}
}

func TestAccept_Garbage_IsRejected(t *testing.T) {
	a := newHost(t, "a", nil)
	b := newHost(t, "b", func(c *Config) { c.Timeout = 300 * time.Millisecond })
	long := "gkpeer\x00\x01\x00\xff\xff" + strings.Repeat("x", 70000)
	for _, garbage := range []string{"", "GET / HTTP/1.1\r\n\r\n", "gkpeer\x00\x02\x00\x00\x00", long,
		"gkpeer\x00\x01\x00\x00\x02\xff\xff", "gkpeer\x00\x01\x07\x00\x00", strings.Repeat("\x00", 5000)} {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(garbage))
		if garbage == "" {
			conn.Close()
		} else {
			defer conn.Close() // stays open until the layer closes it
		}
		<-b.rejected
	}
	exchangeMessages(t, a, b, "b")
}

func TestAccept_TooManySilentConnections_OldestAreClosed(t *testing.T) {
	a := newHost(t, "a", nil)
	b := newHost(t, "b", func(c *Config) { c.Timeout = time.Hour; c.MaxPendingHandshakes = 8 })
	for range 20 {
		conn, err := net.Dial("tcp", b.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	exchangeMessages(t, a, b, "b")
	for range 20 - 8 + 1 { // including one to make room for a's connection
		<-b.rejected
	}
}

func TestClose_ClosesAcceptedConnections(t *testing.T) {
	a, b := newHost(t, "a", nil), newHost(t, "b", nil)
	client, err := dial(a, "b", b)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := b.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 1)); err == nil {
		t.Error("an accepted connection is still open after Close")
	}
	if _, err := b.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close = %v, want net.ErrClosed", err)
	}
	if _, err := dial(b, "a", a); err == nil {
		t.Error("Dial after Close succeeded")
	}
}

func FuzzReadHello(f *testing.F) {
	var b bytes.Buffer
	_ = writeHello(&b, hello{Cluster: "c", From: "a", To: "b", API: "x:1", DataDir: "f"})
	f.Add(b.Bytes())
	_ = writeRefusal(&b, errors.New("no"))
	f.Add(b.Bytes())
	// A version without feature levels sends no level, and a later version may send additional fields.
	f.Add([]byte("gkpeer\x00\x01\x00\x00\x0f\x00\x01c\x00\x01a\x00\x01b\x00\x01x\x00\x01f"))
	f.Add([]byte("gkpeer\x00\x01\x00\x00\x15\x00\x01c\x00\x01a\x00\x01b\x00\x01x\x00\x01f\x00\x012\x00\x01z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := readHello(bytes.NewReader(data))
		if err != nil {
			return
		}
		var written bytes.Buffer
		if err := writeHello(&written, h); err != nil {
			if written.Len() > 0 {
				t.Errorf("%+v was only partly written: %v", h, err)
			}
			return
		}
		reread, err := readHello(&written)
		if err != nil || reread != h || written.Len() > 0 {
			t.Errorf("%+v was read back as %+v with %d bytes left (%v); the original is %q", h, reread, written.Len(), err, data)
		}
	})
}
