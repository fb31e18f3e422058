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
	sentAt, start := l.cfg.WallClock().Round(0), time.Now()
	if err := writeHello(c, l.hello(id)); err != nil {
		return err
	}
	answer, err := readHello(c)
	took := time.Since(start)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Earlier {
		l.cfg.OnSuccessor(fmt.Sprintf("%s at %s says: %s", id, address, refused.Reason))
	}
	if err != nil {
		return l.explain(err)
	}
	if answer.From != id {
		return fmt.Errorf("member %q answered", answer.From)
	}
	if err := l.checkHello(answer, true, answer.ahead(sentAt, took)); err != nil {
		if l.cfg.Succeeds(answer.Cluster, l.cfg.Cluster) {
			l.cfg.OnSuccessor(err.Error())
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
	case isClosed(err):
		return errors.New("it closed the connection during the TLS handshake; if this keeps happening, it does not speak TLS: " +
			"if it is a Gatekeeper server, set --peer-tls-cert on all members")
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
				done := l.pending.enter(c)
				l.accepter.Go(func() { l.welcome(c, done) })
			}
			continue
		}
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(pause): // out of file descriptors, for example
			l.warnRateLimited("", "cannot accept peers", "error", err)
		}
	}
}

// welcome performs the accepting side's handshake. A problem with the connection affects only this goroutine.
func (l *Layer) welcome(c *conn, done func()) {
	err := l.answer(c)
	done()
	if errors.Is(err, errAnswered) {
		c.Close()
		return
	}
	if err != nil {
		c.Close()
		if l.cfg.OnReject != nil {
			l.cfg.OnReject()
		}
		l.cfg.Logger.Debug("closed a connection to the peer port", "remote", c.RemoteAddr(), "error", err)
		return
	}
	select {
	case l.ready <- c:
	case <-l.ctx.Done():
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
	case statusQuery:
		note, err = parseNote(body)
		h.From = note.From
	default:
		err = errNotPeer
	}
	if err != nil {
		return err
	}
	verified := false
	if secured, ok := c.Conn.(*tls.Conn); ok {
		if err := certs.CheckServerUsage(secured.ConnectionState().PeerCertificates[0]); err != nil {
			l.warnRateLimited(hostOf(c), "refused a peer", "peer", h.From, "remote", c.RemoteAddr(), "reason", err.Error())
			return errors.Join(err, writeRefusal(c, err))
		}
		verified = true
	}
	if status == statusQuery {
		return l.answerNote(c, note, verified)
	}
	return l.answerHello(c, h, verified)
}

// answerHello answers a hello.
func (l *Layer) answerHello(c *conn, h hello, verified bool) error {
	if err := l.checkHello(h, verified, nil); err != nil {
		if l.cfg.HeldID == nil { // otherwise, the peer merely connected too early
			l.warnRateLimited(hostOf(c), "refused a peer", "peer", h.From, "remote", c.RemoteAddr(), "reason", err.Error())
		}
		if !verified && !l.sharesSeed(h.Cluster) {
			return errors.Join(err, writeEmptyRefusal(c))
		}
		if l.cfg.Succeeds(h.Cluster, l.cfg.Cluster) {
			l.cfg.OnClaim()
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
	if l.cfg.HeldID != nil {
		held := l.cfg.HeldID()
		return held != "" && held == cluster
	}
	return cluster == l.cfg.Cluster || l.cfg.Succeeds(cluster, l.cfg.Cluster) || l.cfg.Succeeds(l.cfg.Cluster, cluster)
}

// checkHello returns the reason to refuse the sender of h, or nil. For the other parameters, see Statement.
func (l *Layer) checkHello(h hello, verified bool, ahead *time.Duration) error {
	switch {
	case l.cfg.HeldID != nil:
		return fmt.Errorf("%s is still waiting for its cluster to be founded", l.cfg.ID)
	case h.Cluster != l.cfg.Cluster:
		return l.wrongClusterError(h)
	case h.To != l.cfg.ID:
		return fmt.Errorf("this is %s, not %s", l.cfg.ID, h.To)
	case h.From == "" || h.From == l.cfg.ID:
		return fmt.Errorf("%q is not another member's id", h.From)
	}
	return l.cfg.CheckPeer(Statement{ID: h.From, APIAddress: h.API, DataDir: h.DataDir, Level: h.level(), Verified: verified, Ahead: ahead})
}

// wrongClusterError returns the error that refuses a peer from another cluster. If that is an earlier incarnation of
// this cluster, the peer must stop.
func (l *Layer) wrongClusterError(h hello) error {
	reason := fmt.Sprintf("%s belongs to cluster %s, but %s belongs to cluster %s", l.cfg.ID, l.cfg.Cluster, h.From, h.Cluster)
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

// pendingHandshakes limits the number of pending handshakes. If there are too many, the oldest one is closed to make
// room for a new one.
type pendingHandshakes struct {
	max int

	mu   sync.Mutex // guards list
	list *list.List // of *conn, in order of arrival
}

func newPendingHandshakes(max int) *pendingHandshakes {
	return &pendingHandshakes{max: max, list: list.New()}
}

// enter adds c and returns a function that removes it.
func (i *pendingHandshakes) enter(c *conn) (done func()) {
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
