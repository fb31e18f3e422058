package gatekeeper

import (
	"errors"
	"fmt"
	"net"
)

// listen opens every listener that was not given, so that an address in use is told before anything is written.
func (c *Config) listen() (l Listeners, err error) {
	l = c.Listeners
	for _, open := range []struct {
		what, address string
		listener      *net.Listener
	}{
		{"API", c.APIAddress, &l.API}, {"peer", c.PeerAddress, &l.Peer}, {"HTTP", c.HTTPAddress, &l.HTTP}, {"admin", c.AdminAddress, &l.Admin},
	} {
		if *open.listener != nil || open.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", open.address)
		if err != nil {
			l.close()
			return Listeners{}, fmt.Errorf("%w on the %s address %s: %w", ErrListen, open.what, open.address, cause(err))
		}
		*open.listener = listener
	}
	return l, nil
}

// cause is the last error of a chain of net and os errors, which repeat the address.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

func (l *Listeners) close() {
	for _, listener := range []net.Listener{l.API, l.Peer, l.HTTP, l.Admin} {
		if listener != nil {
			_ = listener.Close() // it may be closed already by who served on it
		}
	}
}

// address is where a listener is; empty for none.
func address(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}
