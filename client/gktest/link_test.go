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

// linkPair is a link and both ends of a connection on it.
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

// heard collects what arrives at an end, with a bar for the end of the connection.
type heard struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func listen(c net.Conn) *heard {
	h := &heard{}
	go func() {
		_, _ = io.Copy(h, c)
		c.Close()
		_, _ = io.WriteString(h, "|")
	}()
	return h
}

func (h *heard) want(t *testing.T, text string) {
	t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text.String() != text {
		t.Errorf("heard %q, want %q", h.text.String(), text)
	}
}

func TestLink_Cut_KeepsWhatIsSentAndTheEndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		h := listen(server)
		send(t, client, "a")
		h.want(t, "a")
		l.partition()
		l.partition() // again
		send(t, client, "b")
		send(t, client, "c")
		client.Close()
		h.want(t, "a")
		l.heal()
		l.heal()
		h.want(t, "abc|")
	})
}

func TestLink_Late_DelaysTheServersWordsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		toServer, toClient := listen(server), listen(client)
		l.slowDown(time.Minute)
		send(t, client, "q")
		toServer.want(t, "q")
		send(t, server, "a")
		l.slowDown(time.Hour) // what is on its way is no later for that, and what follows does not pass it
		send(t, server, "b")
		<-time.After(time.Minute - 1)
		toClient.want(t, "")
		<-time.After(1)
		toClient.want(t, "a")
		l.slowDown(0) // what is on its way has arrived
		toClient.want(t, "ab")
	})
}

func TestLink_Late_TheEndIsLateToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, client, server := linkPair(t)
		h := listen(client)
		l.slowDown(time.Minute)
		send(t, server, "a")
		l.serverGone()
		h.want(t, "")
		<-time.After(time.Minute)
		h.want(t, "a|")
	})
}

func TestLink_Disconnected_BothEndsSeeItAndWhatWasOnItsWayIsLost(t *testing.T) {
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

func TestLink_Killed_RefusesDialsAlsoThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, server := linkPair(t)
		h := listen(server)
		l.partition()
		dialled := make(chan error, 1)
		go func() { dialled <- second(l.dial(t.Context())) }()
		synctest.Wait()
		if len(dialled) > 0 {
			t.Error("a dial through the partition was answered")
		}
		l.kill()
		if err := <-dialled; !errors.Is(err, errDead) {
			t.Errorf("the dial that waited: %v", err)
		}
		if _, err := l.dial(t.Context()); !errors.Is(err, errDead) {
			t.Errorf("a later dial: %v", err)
		}
		h.want(t, "|")
	})
}
