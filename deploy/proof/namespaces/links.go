package namespaces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
)

// Set sets a link's state. A link that is down silently drops every packet in its direction. Delay, loss and rate apply
// to all links to the same server together, and the last setting wins. They do not apply to links to the clients. Err
// returns the first error.
func (n *Net) Set(l network.Link, s network.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l = network.Link{From: serverOf(l.From), To: serverOf(l.To)}
	err := errors.Join(n.cut(l, s.Down), n.shape(n.ports[l.To], s))
	if n.failed == nil {
		n.failed = err
	}
}

// Heal restores all links.
func (n *Net) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for l := range n.rules {
		errs = append(errs, n.cut(l, false))
	}
	for k := range n.shaped {
		errs = append(errs, n.shape(k, network.State{}))
	}
	if n.failed == nil {
		n.failed = errors.Join(errs...)
	}
}

// Reset breaks the first endpoint's connections to the second endpoint. While the link is down, the second endpoint
// does not notice.
func (n *Net) Reset(l network.Link) {
	n.mu.Lock()
	defer n.mu.Unlock()
	from, to := n.ports[serverOf(l.From)], n.ports[serverOf(l.To)]
	args := []string{"ss", "-K", "dst", n.addr(1 + to)}
	if from > 0 {
		args = append([]string{"ip", "netns", "exec", n.namespace(from)}, args...)
	}
	if err := do(args[0], args[1:]...); err != nil && n.failed == nil {
		n.failed = err
	}
}

// serverOf returns the name of an endpoint's server, without the port.
func serverOf(name string) string {
	id, _, _ := strings.Cut(name, "/")
	return id
}

// cut drops a link's packets, or lets them through again. Packets from a server are dropped after they have left its
// network, when they arrive at the bridge. Packets from the machine are dropped when they leave the bridge. This way,
// the sender never gets an error. The caller must hold mu.
func (n *Net) cut(l network.Link, down bool) error {
	pref, isDown := n.rules[l]
	if isDown == down {
		return nil
	}
	if !down {
		delete(n.rules, l)
		if port, direction, _ := n.filter(l); port > 0 {
			return do("tc", "filter", "del", "dev", n.port(port), direction, "protocol", "ip", "pref", strconv.Itoa(pref))
		}
		return nil
	}
	port, direction, code := n.filter(l)
	if port == 0 {
		return fmt.Errorf("unknown link from %s to %s", l.From, l.To)
	}
	n.next++
	n.rules[l] = n.next
	return do("tc", "filter", "add", "dev", n.port(port), direction, "protocol", "ip", "pref", strconv.Itoa(n.next), "bpf", "da", "bytecode", code)
}

// filter returns the port and the direction of a link's packets, and the program that drops them. port is 0 if the link
// no longer exists.
func (n *Net) filter(l network.Link) (port int, direction, code string) {
	from, to := n.ports[l.From], n.ports[l.To]
	switch {
	case from > 0 && (to > 0 || l.To == Outside):
		return from, "ingress", dropFilter(destination, n.addr(1+to))
	case to > 0 && l.From == Outside:
		return to, "egress", dropFilter(source, n.addr(1))
	}
	return 0, "", ""
}

// Offsets of an IPv4 packet's addresses in an Ethernet frame.
const (
	source      = 14 + 12
	destination = 14 + 16
)

// dropFilter returns a classic BPF program, in tc's notation, that drops packets with the given address at the given
// offset.
func dropFilter(offset int, address string) string {
	ip := netip.MustParseAddr(address).As4()
	const load, ifEqual, end, drop, pass = 0x20, 0x15, 0x06, 2, 0xffffffff
	return fmt.Sprintf("4,%d 0 0 %d,%d 0 1 %d,%d 0 0 %d,%d 0 0 %d",
		load, offset, ifEqual, binary.BigEndian.Uint32(ip[:]), end, drop, end, uint32(pass))
}

// shape sets the delay, loss and rate of packets to a server. The caller must hold mu.
func (n *Net) shape(k int, s network.State) error {
	args := discipline(s)
	if k == 0 || args == nil && !n.shaped[k] {
		return nil
	}
	if args == nil {
		delete(n.shaped, k)
		return do("tc", "qdisc", "del", "dev", n.port(k), "root")
	}
	n.shaped[k] = true
	return do("tc", append([]string{"qdisc", "replace", "dev", n.port(k), "root"}, args...)...)
}

// discipline returns the tc arguments for a state, or nil if it has no delay, loss or rate.
func discipline(s network.State) []string {
	switch {
	case s.Rate > 0:
		// A 300 ms queue is larger than a typical switch buffer.
		return []string{"tbf", "rate", fmt.Sprintf("%dbit", 8*s.Rate), "burst", "16kb", "latency", "300ms"}
	case s.Delay > 0 || s.Jitter > 0 || s.Loss > 0:
		us := func(d time.Duration) string { return fmt.Sprintf("%dus", d.Microseconds()) }
		return []string{"netem", "delay", us(s.Delay + s.Jitter/2), us(s.Jitter / 2), "loss", fmt.Sprintf("%.2f%%", 100*s.Loss)}
	}
	return nil
}
