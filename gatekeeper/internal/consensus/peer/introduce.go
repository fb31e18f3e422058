package peer

import (
	"container/list"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// introduce performs the dialing side's handshake with member id.
func (l *Layer) introduce(c *conn, id, address string, deadline time.Time) error {
	if err := l.secure(c, address, deadline); err != nil {
		return err
	}
	asked, start := l.cfg.WallClock().Round(0), time.Now()
	if err := writeHello(c, l.hello(id)); err != nil {
		return err
	}
	answer, err := readHello(c)
	took := time.Since(start)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Earlier {
		l.cfg.Succeeded(fmt.Sprintf("%s at %s says: %s", id, address, refused.Reason))
	}
	if err != nil {
		return l.explain(err)
	}
	if answer.From != id {
		return fmt.Errorf("member %q answered", answer.From)
	}
	if err := l.objection(answer, true, answer.ahead(asked, took)); err != nil {
		if l.cfg.Succeeds(answer.Cluster, l.cfg.Cluster) {
			l.cfg.Succeeded(err.Error())
		}
		return err
	}
	return c.SetDeadline(time.Time{})
}

// secure sets the deadline of an outgoing connection to address and, with TLS, encrypts the connection.
func (l *Layer) secure(c *conn, address string, deadline time.Time) error {
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	if l.cfg.TLS.IsZero() {
		return nil
	}
	cfg, err := l.tls.Read()
	if err != nil {
		return err
	}
	cfg = cfg.Clone()
	if cfg.ServerName, _, err = net.SplitHostPort(address); err != nil {
		return err
	}
	secured := tls.Client(c.Conn, cfg)
	switch err := secured.Handshake(); {
	case closed(err):
		return errors.New("it closed the connection during the TLS handshake; if it does so again, it does not speak TLS: " +
			"set --peer-tls-cert on all members, unless it is a different program")
	case err != nil:
		return l.explain(err)
	}
	c.Conn = secured
	return nil
}

// accept accepts connections and starts their handshakes until the listener is closed.
func (l *Layer) accept() {
	var pause time.Duration
	for {
		raw, err := l.cfg.Listener.Accept()
		if err == nil {
			pause = 0
			if c, err := l.track(raw); err == nil {
				leave := l.waiting.enter(c)
				l.accepter.Go(func() { l.welcome(c, leave) })
			}
			continue
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-l.open.Done():
			return
		case <-time.After(pause): // out of file descriptors, for example
			l.warnRateLimited("", "cannot accept peers", "error", err)
		}
	}
}

// welcome performs the accepting side's handshake. A problem with the connection affects only this goroutine.
func (l *Layer) welcome(c *conn, leave func()) {
	err := l.answer(c)
	leave()
	if errors.Is(err, errAnswered) {
		c.Close()
		return
	}
	if err != nil {
		c.Close()
		if l.cfg.Rejected != nil {
			l.cfg.Rejected()
		}
		l.cfg.Logger.Debug("closed a connection to the peer port", "remote", c.RemoteAddr(), "error", err)
		return
	}
	select {
	case l.ready <- c:
	case <-l.open.Done():
		c.Close()
	}
}

func (l *Layer) answer(c *conn) error {
	if err := c.SetDeadline(time.Now().Add(l.cfg.Timeout)); err != nil {
		return err
	}
	if !l.cfg.TLS.IsZero() {
		cfg, err := l.tls.Read()
		if err != nil {
			l.warnRateLimited("tls", "cannot use TLS for incoming peers", "error", err)
			return err
		}
		cfg = cfg.Clone()
		cfg.ClientAuth = tls.RequireAndVerifyClientCert
		secured := tls.Server(c.Conn, cfg)
		if err := secured.Handshake(); err != nil {
			return err
		}
		c.Conn = secured
	}
	status, body, err := readMessage(c)
	if err != nil {
		return err
	}
	var h hello
	var note Note
	switch status {
	case statusWelcome:
		h, err = parseHello(body)
	case statusAsk:
		note, err = parseNote(body)
		h.From = note.From
	default:
		err = errNotPeer
	}
	if err != nil {
		return err
	}
	proved := false
	if secured, ok := c.Conn.(*tls.Conn); ok {
		if err := certs.ForServers(secured.ConnectionState().PeerCertificates[0]); err != nil {
			l.warnRateLimited(hostOf(c), "refused a peer", "peer", h.From, "remote", c.RemoteAddr(), "reason", err.Error())
			return errors.Join(err, writeRefusal(c, err))
		}
		proved = true
	}
	if status == statusAsk {
		return l.reply(c, note, proved)
	}
	return l.greet(c, h, proved)
}

// greet answers a hello.
func (l *Layer) greet(c *conn, h hello, proved bool) error {
	if err := l.objection(h, proved, nil); err != nil {
		if l.cfg.Held == nil { // otherwise the peer has just connected too early
			l.warnRateLimited(hostOf(c), "refused a peer", "peer", h.From, "remote", c.RemoteAddr(), "reason", err.Error())
		}
		if !proved && !l.sharesSeed(h.Cluster) {
			return errors.Join(err, writeNothing(c))
		}
		if l.cfg.Succeeds(h.Cluster, l.cfg.Cluster) {
			l.cfg.Claimed()
		}
		return errors.Join(err, writeRefusal(c, err))
	}
	if err := writeHello(c, l.hello(h.From)); err != nil {
		return err
	}
	return c.SetDeadline(time.Time{})
}

// hostOf returns the remote address without the port.
func hostOf(c net.Conn) string {
	h, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return h
}

// sharesSeed reports whether a cluster id has this cluster's seed. Only members and clients know the seed.
func (l *Layer) sharesSeed(cluster string) bool {
	if l.cfg.Held != nil {
		held := l.cfg.Held()
		return held != "" && held == cluster
	}
	return cluster == l.cfg.Cluster || l.cfg.Succeeds(cluster, l.cfg.Cluster) || l.cfg.Succeeds(l.cfg.Cluster, cluster)
}

// objection returns the reason to refuse the sender of h, or nil. For the other parameters, see Statement.
func (l *Layer) objection(h hello, proved bool, ahead *time.Duration) error {
	switch {
	case l.cfg.Held != nil:
		return fmt.Errorf("%s does not know yet that its cluster has been founded", l.cfg.ID)
	case h.Cluster != l.cfg.Cluster:
		return l.stranger(h)
	case h.To != l.cfg.ID:
		return fmt.Errorf("this is %s, not %s", l.cfg.ID, h.To)
	case h.From == "" || h.From == l.cfg.ID:
		return fmt.Errorf("%q is not another member's id", h.From)
	}
	return l.cfg.Meet(Statement{ID: h.From, APIAddress: h.API, DataDir: h.DataDir, Level: h.level(), Proved: proved, Ahead: ahead})
}

// stranger returns the error that refuses a peer from another cluster. If that is an earlier incarnation of this
// cluster, the peer must stop.
func (l *Layer) stranger(h hello) error {
	reason := fmt.Sprintf("%s belongs to cluster %s, but %s to cluster %s", l.cfg.ID, l.cfg.Cluster, h.From, h.Cluster)
	if l.cfg.Succeeds(l.cfg.Cluster, h.Cluster) {
		return &earlierError{reason}
	}
	return errors.New(reason)
}

func (l *Layer) hello(to string) hello {
	return hello{
		Cluster: l.cfg.Cluster, From: l.cfg.ID, To: to, API: l.cfg.APIAddress, DataDir: l.cfg.DataDir,
		Level: strconv.FormatUint(uint64(l.cfg.Level), 10), Clock: strconv.FormatInt(l.cfg.WallClock().UnixNano(), 10),
	}
}

// introductions limits the number of pending handshakes. If there are too many, the oldest one is closed to make room
// for a new one.
type introductions struct {
	max int

	mu   sync.Mutex // guards list
	list *list.List // of *conn, in the order of arrival
}

func newIntroductions(max int) *introductions { return &introductions{max: max, list: list.New()} }

// enter adds c and returns a function that removes it.
func (i *introductions) enter(c *conn) (leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.list.Len() >= i.max {
		oldest := i.list.Remove(i.list.Front()).(*conn)
		oldest.raw.Close() // its goroutine receives the error and cleans up
	}
	e := i.list.PushBack(c)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.list.Remove(e) // does nothing if c was closed to make room for a new one
	}
}
