package run

import (
	"errors"
	"fmt"
	"net"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/namespaces"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// The kinds of network between servers and clients. Auto means network namespaces if they are available and support the
// kind of fault, and proxies otherwise.
const (
	Namespaces = "namespaces"
	Proxies    = "proxies"
	Auto       = "auto"
)

// ErrUnsupported means that this machine or network does not support a kind of fault.
var ErrUnsupported = errors.New("this kind of fault is not supported here")

// testbed is a network on which servers can be placed.
type testbed interface {
	fault.Network
	// assignAddresses sets the addresses on which a server listens, and the addresses at which others reach it.
	assignAddresses(*servers.Server) error
	// reach returns the address at which clients reach a server's API.
	reach(*servers.Server) string
	// close removes the network. It fails if a network fault was not applied as intended.
	close() error
}

// newTestbed creates the network for a run and returns its kind.
func newTestbed(opts Options) (testbed, string, error) {
	p := &proxyNetwork{Network: network.New(opts.Seed), separateLinks: opts.Kind == fault.Misdirected, clients: map[*servers.Server]string{}}
	kernel := opts.Network == Namespaces
	if opts.Network == Auto && !onlyProxies(opts.Kind) {
		kernel = true
	}
	if !kernel {
		return checkSupport(p, Proxies, opts.Kind)
	}
	n, err := namespaces.Open()
	switch {
	case err == nil && opts.Network == Auto && !n.Can(fault.Needs(opts.Kind)):
		if err := n.Close(); err != nil {
			return nil, "", err
		}
		return checkSupport(p, Proxies, opts.Kind)
	case err == nil && onlyProxies(opts.Kind):
		return nil, "", errors.Join(fmt.Errorf("%w: %s requires proxies", ErrUnsupported, opts.Kind), n.Close())
	case err == nil:
		return checkSupport(&kernelNetwork{n}, Namespaces, opts.Kind)
	case opts.Network == Auto && errors.Is(err, namespaces.ErrUnavailable):
		return checkSupport(p, Proxies, opts.Kind)
	}
	return nil, "", errors.Join(ErrUnsupported, err)
}

// onlyProxies reports whether only proxies can inject a kind of fault.
func onlyProxies(kind string) bool { return kind == fault.Misdirected }

// checkSupport returns the network and its name. If the network does not support the kind of fault, it closes the
// network and returns an error.
func checkSupport(g testbed, name, kind string) (testbed, string, error) {
	if !g.Can(fault.Needs(kind)) {
		return nil, "", errors.Join(fmt.Errorf("%w: %s with %s", ErrUnsupported, kind, name), g.close())
	}
	return g, name, nil
}

// proxyNetwork is a network of proxies on loopback.
type proxyNetwork struct {
	*network.Network
	separateLinks bool // members reach an API over a different link than clients do
	clients       map[*servers.Server]string
}

func (p *proxyNetwork) assignAddresses(s *servers.Server) error {
	var err error
	if s.FrontAPI, err = p.Proxy(s.ID+fault.API, s.API, network.Always(fault.Clients)); err != nil {
		return err
	}
	if p.separateLinks {
		p.clients[s] = s.FrontAPI
		if s.FrontAPI, err = p.Proxy(s.ID+fault.Hop, s.API, network.Always(fault.Members)); err != nil {
			return err
		}
	}
	s.FrontPeer, err = p.Proxy(s.ID, s.Peer, network.Peer)
	return err
}

func (p *proxyNetwork) reach(s *servers.Server) string {
	if p.separateLinks {
		return p.clients[s]
	}
	return s.FrontAPI
}

func (p *proxyNetwork) close() error {
	p.Close()
	return nil
}

// kernelNetwork is a network built from network namespaces.
type kernelNetwork struct{ *namespaces.Net }

// assignAddresses places the server in a separate network namespace, where all ports are free.
func (k *kernelNetwork) assignAddresses(s *servers.Server) error {
	place, err := k.Add(s.ID)
	if err != nil {
		return err
	}
	at := func(address, port string) string { return net.JoinHostPort(address, port) }
	s.API, s.Peer = at(place.Control, "7420"), at(place.Control, "7421")
	s.HTTP, s.Admin = at(place.Control, "7422"), at(place.Control, "7423")
	s.FrontAPI, s.FrontPeer = at(place.Address, "7420"), at(place.Address, "7421")
	s.CommandPrefix, s.AllAddresses = place.CommandPrefix, true
	return nil
}

func (k *kernelNetwork) reach(s *servers.Server) string { return s.FrontAPI }

func (k *kernelNetwork) close() error { return k.Net.Close() }
