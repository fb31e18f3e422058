package gktest

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// linkPair returns a link and both ends of a connection over it.
func linkPair(t *testing.T) (l *link, client, server net.Conn) {
	t.Helper()
	entered := make(chan net.Conn, 1)
	l = newLink(func(c net.Conn) error { entered <- c; return nil })
	client, err := l.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.kill)
	return l, client, <-entered
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// received records the data that arrives at one end of a connection, and a "|" when the connection is closed.
type received struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (h *received) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func listen(c net.Conn) *received {
	h := &received{}
	go func() {
		_, _ = io.Copy(h, c)
		c.Close()
		_, _ = io.WriteString(h, "|")
	}()
	return h
}

func (h *received) want(t *testing.T, text string) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.String() != text {
		t.Errorf("received %q, want %q", h.text.String(), text)
	}
}

func TestLink_Partitioned_HoldsDataBackInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		h := listen(server)
		send(t, client, "a")
		h.want(t, "a")
		l.partition()
		l.partition() // a second call has no effect
		send(t, client, "b")
		send(t, client, "c")
		client.Close()
		h.want(t, "a")
		l.heal()
		l.heal()
		h.want(t, "abc|")
	})
}

func TestLink_SlowedDown_DelaysOnlyDataFromTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		toServer, toClient := listen(server), listen(client)
		l.slowDown(time.Minute)
		send(t, client, "q")
		toServer.want(t, "q")
		send(t, server, "a")
		l.slowDown(time.Hour) // applies only to later data
		send(t, server, "b")
		<-time.After(time.Minute - 1)
		toClient.want(t, "")
		<-time.After(1)
		toClient.want(t, "a")
		l.slowDown(0) // data in transit arrives immediately
		toClient.want(t, "ab")
	})
}

func TestLink_SlowedDown_DelaysConnectionClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		h := listen(client)
		l.slowDown(time.Minute)
		send(t, server, "a")
		l.closeServerEnds()
		h.want(t, "")
		<-time.After(time.Minute)
		h.want(t, "a|")
	})
}

func TestLink_Disconnected_BothEndsBreakAndDataIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		toServer, toClient := listen(server), listen(client)
		l.partition()
		send(t, client, "q")
		l.disconnect()
		toServer.want(t, "|")
		toClient.want(t, "|")
	})
}

func TestLink_Killed_FailsPendingAndLaterDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, server := linkPair(t)
		h := listen(server)
		l.partition()
		dialled := make(chan error, 1)
		go func() { dialled <- secondResult(l.dial(t.Context())) }()
		synctest.Wait()
		if len(dialled) > 0 {
			t.Error("dial returned during the partition")
		}
		l.kill()
		if err := <-dialled; !errors.Is(err, errDead) {
			t.Errorf("pending dial = %v, want errDead", err)
		}
		if _, err := l.dial(t.Context()); !errors.Is(err, errDead) {
			t.Errorf("later dial = %v, want errDead", err)
		}
		h.want(t, "|")
	})
}
