// Package namespaces runs each server in a separate network namespace and uses the kernel to interrupt the links
// between them. Connections are real, and a link that is down drops packets silently. The package requires Linux, root,
// and the commands ip, tc and ss.
//
// A bridge connects the servers' networks to the machine, where the clients run. Each server has two addresses. The
// first is for members and clients, and its links can be cut. The second is never cut, and the harness uses it to read
// the server's state.
//
//	clients .1 ──┬── bridge ──┬── port ── eth0 .2, .130  gk1
//	harness .129 ┘            └── port ── eth0 .3, .131  gk2
//
// All names contain the id of the process that created them, so that a later run can recognize and remove leftovers
// from a killed process.
package namespaces

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
)

// ErrUnavailable means that this user cannot create network namespaces on this machine.
var ErrUnavailable = errors.New("network namespaces require Linux, root, ip, tc with its bpf filter, and ss")

// Outside is the endpoint on the machine itself, where the clients run. If an endpoint's name contains a slash, the
// part after the slash names one of the server's ports. Net ignores it, because each of its links carries all ports.
const Outside = "clients"

// control is the offset of a server's second address from its first.
const control = 128

// maxServers is the maximum number of servers.
const maxServers = 100

// Net is a bridge with the servers' networks. It is safe for concurrent use.
type Net struct {
	name  string
	netem bool // whether the kernel can delay and lose packets

	mu     sync.Mutex // guards the fields below
	subnet netip.Addr // .0
	ports  map[string]int
	rules  map[network.Link]int // preference of the filter that cuts each link
	next   int
	shaped map[int]bool
	failed error // the first error from changing a link
}

// Open creates a network and tries every operation that may be needed later. It returns ErrUnavailable if any of them
// fails.
func Open() (*Net, error) {
	if os.Getuid() != 0 {
		return nil, ErrUnavailable
	}
	for _, command := range []string{"ip", "tc", "ss"} {
		if _, err := exec.LookPath(command); err != nil {
			return nil, errors.Join(ErrUnavailable, err)
		}
	}
	n := &Net{ports: map[string]int{}, rules: map[network.Link]int{}, shaped: map[int]bool{}}
	if err := n.create(func() int { return rand.IntN(maxNetworks) }); err != nil {
		return nil, errors.Join(ErrUnavailable, err)
	}
	err := n.address()
	if err == nil {
		err = n.try()
	}
	if err != nil {
		return nil, errors.Join(ErrUnavailable, err, n.Close())
	}
	return n, nil
}

// maxNetworks is the number of networks that a process can have at the same time.
const maxNetworks = 256

// create creates the bridge under an unused name. Another run in this process may have picked the same number.
func (n *Net) create(draw func() int) (err error) {
	for range maxNetworks {
		n.name = prefix(os.Getpid()) + fmt.Sprintf("%02x", draw())
		if err = do("ip", "link", "add", n.name+"b", "type", "bridge"); err == nil {
			return nil
		}
		if list, listErr := output("ip", "-o", "link"); listErr != nil || !strings.Contains(list, n.name+"b:") {
			return err
		}
	}
	return err
}

// address assigns the bridge a subnet in the range reserved for network tests (RFC 2544).
func (n *Net) address() error {
	for {
		n.subnet = netip.AddrFrom4([4]byte{198, byte(18 + rand.IntN(2)), byte(rand.IntN(256)), 0})
		if taken, err := n.taken(); err != nil {
			return err
		} else if taken {
			continue
		}
		err := doAll(
			[]string{"ip", "addr", "add", n.addr(1) + "/25", "dev", n.name + "b"},
			[]string{"ip", "addr", "add", n.addr(1+control) + "/25", "dev", n.name + "b"},
		)
		if err != nil {
			return err
		}
		// Another process may have chosen the subnet at the same moment. The process that checks last gives way.
		if taken, err := n.taken(); err != nil {
			return err
		} else if !taken {
			return do("ip", "link", "set", n.name+"b", "up")
		}
		if err := do("ip", "addr", "flush", "dev", n.name+"b"); err != nil {
			return err
		}
	}
}

// taken reports whether another process is using addresses in the subnet.
func (n *Net) taken() (bool, error) {
	list, err := output("ip", "-o", "addr")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(list) {
		if strings.Contains(line, " "+strings.TrimSuffix(n.subnet.String(), "0")) && !strings.Contains(line, n.name+"b ") {
			return true, nil
		}
	}
	return false, nil
}

// try performs every operation that may be needed.
func (n *Net) try() error {
	const probe = "probe"
	place, err := n.Add(probe)
	if err != nil {
		return err
	}
	n.netem = do("tc", "qdisc", "add", "dev", n.port(1), "root", "netem", "delay", "1ms") == nil &&
		do("tc", "qdisc", "del", "dev", n.port(1), "root") == nil
	n.Set(network.Link{From: probe, To: Outside}, network.State{Down: true})
	n.Set(network.Link{From: Outside, To: probe}, network.State{Down: true})
	n.Set(network.Link{From: Outside, To: probe}, network.State{Rate: 1 << 20})
	n.Heal()
	n.Reset(network.Link{From: probe, To: Outside})
	return errors.Join(n.Err(), n.checkReset(), do(place.CommandPrefix[0], append(slices.Clone(place.CommandPrefix[1:]), "true")...), n.remove(probe))
}

// checkReset checks that connections can be broken. If the kernel lacks INET_DIAG_DESTROY, ss does nothing and reports
// no error.
func (n *Net) checkReset() error {
	l, err := net.Listen("tcp", net.JoinHostPort(n.addr(1), "0"))
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := do("ss", "-K", "dst", n.addr(1)); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("ss -K does not break connections")
	}
	return nil
}

// Place is the network location of a server.
type Place struct {
	// Address is the address for members and clients. Control is the address for the harness, which is never cut.
	Address, Control string
	// CommandPrefix is prepended to a command to run it in the server's network.
	CommandPrefix []string
}

// Add creates a network for a server.
func (n *Net) Add(id string) (Place, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := 1 // the first free number
	for ; slices.Contains(values(n.ports), k); k++ {
	}
	if k > maxServers {
		return Place{}, fmt.Errorf("the network supports at most %d servers", maxServers)
	}
	n.ports[id] = k
	ns, port := n.namespace(k), n.port(k)
	err := doAll(
		[]string{"ip", "netns", "add", ns},
		[]string{"ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", ns},
		[]string{"ip", "link", "set", port, "master", n.name + "b", "up"},
		[]string{"ip", "-n", ns, "addr", "add", n.addr(1+k) + "/25", "dev", "eth0"},
		[]string{"ip", "-n", ns, "addr", "add", n.addr(1+k+control) + "/25", "dev", "eth0"},
		[]string{"ip", "-n", ns, "link", "set", "eth0", "up"},
		[]string{"ip", "-n", ns, "link", "set", "lo", "up"},
		[]string{"tc", "qdisc", "add", "dev", port, "clsact"},
	)
	return Place{Address: n.addr(1 + k), Control: n.addr(1 + k + control), CommandPrefix: []string{"ip", "netns", "exec", ns}}, err
}

// Can reports whether this network supports a link state.
func (n *Net) Can(s network.State) bool {
	return n.netem || s.Delay == 0 && s.Jitter == 0 && s.Loss == 0
}

// Err returns the first error from changing a link.
func (n *Net) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failed
}

// Close removes the network. It returns an error if anything could not be removed or if changing a link failed earlier.
func (n *Net) Close() error {
	errs := []error{n.Err()}
	for _, id := range n.ids() {
		errs = append(errs, n.remove(id))
	}
	return errors.Join(append(errs, do("ip", "link", "del", n.name+"b"))...)
}

func (n *Net) ids() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var ids []string
	for id := range n.ports {
		ids = append(ids, id)
	}
	return ids
}

// remove removes a server's network. Processes still running in it lose their connections.
func (n *Net) remove(id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.ports[id]
	delete(n.ports, id)
	return errors.Join(do("ip", "link", "del", n.port(k)), do("ip", "netns", "del", n.namespace(k)))
}

func (n *Net) namespace(k int) string { return fmt.Sprintf("%sn%d", n.name, k) }

func (n *Net) port(k int) string { return fmt.Sprintf("%sp%d", n.name, k) }

// addr returns an address in the subnet.
func (n *Net) addr(last int) string {
	b := n.subnet.As4()
	b[3] = byte(last)
	return netip.AddrFrom4(b).String()
}

func values(m map[string]int) []int {
	var all []int
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// doAll runs commands until one fails.
func doAll(commands ...[]string) error {
	for _, c := range commands {
		if err := do(c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}

func do(command string, args ...string) error {
	_, err := output(command, args...)
	return err
}

func output(command string, args ...string) (string, error) {
	out, err := exec.Command(command, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", command, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}
