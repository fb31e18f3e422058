package network

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo starts an echo server behind a proxy that identifies the client as "a".
func echo(t *testing.T) (*Network, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	n := New(1)
	front, err := n.Proxy("echo", l.Addr().String(), Always("a"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", front)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		n.Close()
		l.Close()
	})
	return n, c
}

func send(t *testing.T, c net.Conn, word string) {
	t.Helper()
	if _, err := io.WriteString(c, word); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, c net.Conn, word string) {
	t.Helper()
	got := make([]byte, len(word))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != word {
		t.Fatalf("got %q, %v, want %q", got, err, word)
	}
}

// expectSilence fails the test if data arrives within 50 ms.
func expectSilence(t *testing.T, c net.Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(make([]byte, 1))
	timeout, ok := errors.AsType[net.Error](err)
	if n > 0 || !ok || !timeout.Timeout() {
		t.Fatalf("received %d bytes, %v, want none", n, err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

func TestSet_LinkDown_BlocksDirectionsSeparately(t *testing.T) {
	for _, l := range []Link{{"a", "echo"}, {"echo", "a"}} {
		n, c := echo(t)
		send(t, c, "one")
		expect(t, c, "one")
		n.Set(l, State{Down: true})
		send(t, c, "two")
		expectSilence(t, c)
		n.Set(Link{"b", "echo"}, State{})
		expectSilence(t, c)
		n.Heal()
		expect(t, c, "two")
	}
}

func TestSet_DelayedData_ArrivesInOrder(t *testing.T) {
	n, c := echo(t)
	n.Set(Link{"a", "echo"}, State{Delay: time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.1})
	for range 20 {
		send(t, c, "abc")
	}
	for range 20 {
		expect(t, c, "abc")
	}
}

func TestReset_BreaksLinkConnections(t *testing.T) {
	n, c := echo(t)
	send(t, c, "one")
	expect(t, c, "one")
	n.Reset(Link{"b", "echo"})
	send(t, c, "two")
	expect(t, c, "two")
	n.Reset(Link{"a", "echo"})
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open after Reset()")
	}
}

func TestRedirect_NewConnections_ReachNewTarget(t *testing.T) {
	n, c := echo(t)
	send(t, c, "one")
	expect(t, c, "one")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "another")
			c.Close()
		}
	}()
	n.Redirect("echo", l.Addr().String())
	lost, err := net.Dial("tcp", c.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Close()
	expect(t, lost, "another")
	send(t, c, "two")
	expect(t, c, "two")
	n.Redirect("echo", "")
	own, err := net.Dial("tcp", c.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	send(t, own, "three")
	expect(t, own, "three")
}

func TestPeer_ReadsOnlyDialerName(t *testing.T) {
	hello := []byte("gkpeer\x00\x01\x00\x00\x0a\x00\x03abc\x00\x03gk2rest")
	r, w := io.Pipe()
	go func() {
		_, _ = w.Write(hello)
		w.Close()
	}()
	from, read, err := Peer(r)
	if err != nil || from != "gk2" || string(read) != string(hello[:len(hello)-4]) {
		t.Errorf("Peer() = %q, %q, %v; want gk2 and the handshake's bytes", from, read, err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || string(rest) != "rest" {
		t.Errorf("ReadAll() after the handshake = %q, %v; want the rest", rest, err)
	}
}
