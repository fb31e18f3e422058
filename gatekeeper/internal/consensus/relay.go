package consensus

import (
	"net"
	"sync"
)

// relay accepts connections on a listener for two consecutive users. If the first user owned the listener, it could
// only close it, not hand it over, and connections waiting to be accepted would be lost. Therefore, the first user gets
// a loan of the relay, and the second one gets the relay itself.
type relay struct {
	net.Listener // for its address

	accepted chan accepted
	closing  sync.Once
	closed   chan struct{}
	exited   chan struct{} // closed when the listener is no longer used
}

type accepted struct {
	conn net.Conn
	err  error
}

func newRelay(l net.Listener) *relay {
	r := &relay{Listener: l, accepted: make(chan accepted), closed: make(chan struct{}), exited: make(chan struct{})}
	go r.run()
	return r
}

func (r *relay) run() {
	defer close(r.exited)
	for {
		conn, err := r.Listener.Accept()
		select {
		case r.accepted <- accepted{conn, err}:
		case <-r.closed:
			if err == nil {
				_ = conn.Close()
			}
			return
		}
	}
}

func (r *relay) Accept() (net.Conn, error) { return r.accept(nil) }

func (r *relay) accept(returned <-chan struct{}) (net.Conn, error) {
	select {
	case a := <-r.accepted:
		return a.conn, a.err
	case <-returned:
	case <-r.closed:
	}
	return nil, net.ErrClosed
}

// Close also closes the listener.
func (r *relay) Close() error {
	var err error
	r.closing.Do(func() {
		close(r.closed)
		err = r.Listener.Close()
		<-r.exited
	})
	return err
}

// loan is the first user's view of the relay. Closing it leaves the listener open.
type loan struct {
	*relay
	returning sync.Once
	returned  chan struct{}
}

func (r *relay) lend() *loan { return &loan{relay: r, returned: make(chan struct{})} }

func (l *loan) Accept() (net.Conn, error) { return l.accept(l.returned) }

func (l *loan) Close() error {
	l.returning.Do(func() { close(l.returned) })
	return nil
}
