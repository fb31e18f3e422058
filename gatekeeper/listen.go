package gatekeeper

import (
	"errors"
	"fmt"
	"net"
)

// listen opens every listener that the configuration does not supply. It runs before anything is written, so that a
// failure, such as an address already in use, leaves no files behind.
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

// cause strips the outer net error, which repeats the address.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

func (l *Listeners) close() {
	for _, listener := range []net.Listener{l.API, l.Peer, l.HTTP, l.Admin} {
		if listener != nil {
			_ = listener.Close() // its server may have closed it already
		}
	}
}

// addresses holds the ports' addresses. A nil address means that the port is off.
type addresses struct{ api, peer, http, admin net.Addr }

func (l *Listeners) addresses() addresses {
	addr := func(l net.Listener) net.Addr {
		if l == nil {
			return nil
		}
		return l.Addr()
	}
	return addresses{addr(l.API), addr(l.Peer), addr(l.HTTP), addr(l.Admin)}
}

// resolve returns the addresses that listen would use, if they can be resolved.
func (c *Config) resolve() addresses {
	at := c.Listeners.addresses()
	for _, port := range []struct {
		address string
		at      *net.Addr
	}{{c.APIAddress, &at.api}, {c.PeerAddress, &at.peer}, {c.HTTPAddress, &at.http}, {c.AdminAddress, &at.admin}} {
		if *port.at != nil || port.address == "" {
			continue
		}
		if resolved, err := net.ResolveTCPAddr("tcp", port.address); err == nil {
			*port.at = resolved
		}
	}
	return at
}

func address(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}
