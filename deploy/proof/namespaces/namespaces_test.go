package namespaces

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/proof/network"
)

// echoCommand is the first argument that makes the test binary run as an echo server.
const echoCommand = "echo-server"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == echoCommand {
		if err := echo(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// echo runs an echo server on port 7 and prints a line when it is ready. It also sends every line of standard input to
// the server at the address peer, and prints the responses. peer may be empty if there is no input.
func echo(peer string) error {
	l, err := net.Listen("tcp", ":7")
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	fmt.Println("listening")
	lines := bufio.NewScanner(os.Stdin)
	var c net.Conn
	for lines.Scan() {
		if c == nil {
			if c, err = net.Dial("tcp", peer); err != nil {
				return err
			}
			go func() { _, _ = io.Copy(os.Stdout, c) }()
		}
		if _, err := fmt.Fprintln(c, lines.Text()); err != nil {
			return err
		}
	}
	return nil
}

// server is an echo server in its own network namespace.
type server struct {
	Place
	in  io.Writer
	out *bufio.Scanner
}

func startServer(t *testing.T, n *Net, id, peer string) *server {
	t.Helper()
	place, err := n.Add(id)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, place.CommandPrefix[0], append(slices.Clone(place.CommandPrefix[1:]), self, echoCommand, peer)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // returns an error because the process was killed
	})
	s := &server{place, in, bufio.NewScanner(out)}
	s.expect(t, "listening")
	return s
}

func (s *server) send(t *testing.T, word string) {
	t.Helper()
	if _, err := fmt.Fprintln(s.in, word); err != nil {
		t.Fatal(err)
	}
}

func (s *server) expect(t *testing.T, word string) {
	t.Helper()
	if !s.out.Scan() || s.out.Text() != word {
		t.Fatalf("got %q, %v, want %q", s.out.Text(), s.out.Err(), word)
	}
}

// open creates a network. It skips the test if network namespaces are unavailable and the error contains the reason.
func open(t *testing.T) *Net {
	t.Helper()
	n, err := Open()
	if err != nil {
		if !errors.Is(err, ErrUnavailable) || os.Getuid() == 0 && !strings.Contains(err.Error(), ": ") {
			t.Fatalf("Open() = %v, want nil or ErrUnavailable with a reason", err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		for _, list := range [][]string{{"-o", "link"}, {"netns", "list"}} {
			if text, err := output("ip", list...); err != nil || strings.Contains(text, n.name) {
				t.Errorf("%s still exists, %v:\n%s", n.name, err, text)
			}
		}
	})
	return n
}

// A link that is down delivers nothing. The connection stays open, and the data arrives once the link is restored.
func TestSet_LinkDown_BlocksOneDirectionUntilHealed(t *testing.T) {
	n := open(t)
	b := startServer(t, n, "b", "")
	a := startServer(t, n, "a", net.JoinHostPort(b.Address, "7"))
	outside := dial(t, b.Address)
	control := dial(t, b.Control)
	a.send(t, "one")
	a.expect(t, "one")
	for _, l := range []network.Link{{From: "a", To: "b"}, {From: "b", To: "a"}} {
		n.Set(l, network.State{Down: true})
		a.send(t, l.From)
		outside.expect(t, "ping over another link")
		control.expect(t, "ping from the harness")
		received := make(chan struct{})
		go func() {
			defer close(received)
			a.out.Scan()
		}()
		select {
		case <-received:
			t.Fatalf("received %[2]q while %[1]v was down", l, a.out.Text())
		case <-time.After(300 * time.Millisecond):
		}
		n.Heal()
		<-received
		if a.out.Text() != l.From {
			t.Errorf("received %[2]q after %[1]v was restored, want %[3]q", l, a.out.Text(), l.From)
		}
	}
	for _, l := range []network.Link{{From: Outside, To: "b/api"}, {From: "b/api", To: Outside}} {
		n.Set(l, network.State{Down: true})
		outside.expectSilence(t)
		a.send(t, "ping between members")
		a.expect(t, "ping between members")
		control.expect(t, "ping from the harness")
		n.Set(l, network.State{})
		outside.received(t, "lost")
	}
}

func TestReset_BreaksLinkConnections(t *testing.T) {
	n := open(t)
	b := startServer(t, n, "b", "")
	outside, control := dial(t, b.Address), dial(t, b.Control)
	outside.expect(t, "one")
	n.Reset(network.Link{From: Outside, To: "b/api"})
	if err := outside.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := outside.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Reset() left the connection open: %v", err)
	}
	control.expect(t, "ping from the harness")
}

func TestSet_Narrow_DropsExcessPackets(t *testing.T) {
	n := open(t)
	b := startServer(t, n, "b", "")
	n.Set(network.Link{From: Outside, To: "b"}, network.State{Rate: 1 << 20})
	if err := n.Err(); err != nil {
		t.Fatal(err)
	}
	c := dial(t, b.Address)
	text := strings.Repeat("x", 1<<20)
	go func() { _, _ = io.WriteString(c, text) }()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatal(err)
	}
	stats, err := output("tc", "-s", "qdisc", "show", "dev", n.port(1), "root")
	if err != nil || !strings.Contains(stats, "overlimits ") || strings.Contains(stats, "overlimits 0 ") {
		t.Errorf("the narrow link dropped no packets (%v):\n%s", err, stats)
	}
}

// A process can have several networks at the same time.
func TestCreate_NameInUse_PicksAnother(t *testing.T) {
	n := open(t)
	taken, err := strconv.ParseInt(n.name[len(prefix(os.Getpid())):], 16, 0)
	if err != nil {
		t.Fatal(err)
	}
	draws := 0
	other := &Net{}
	err = other.create(func() int {
		draws++
		return (int(taken) + draws/2) % maxNetworks // draw the taken number first
	})
	if err != nil || other.name == n.name || draws < 2 {
		t.Fatalf("create() chose %[3]s, %[4]v after %[1]d draws, want a name other than %[2]s", draws, n.name, other.name, err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if list, err := output("ip", "-o", "link"); err != nil || !strings.Contains(list, n.name+"b:") {
		t.Errorf("%s was removed, %v:\n%s", n.name, err, list)
	}
}

// Two processes that start simultaneously may choose the same subnet.
func TestTaken_SubnetInUse_IsDetected(t *testing.T) {
	n := open(t)
	other := &Net{name: prefix(os.Getpid()) + "zz", subnet: n.subnet}
	for name, c := range map[string]struct {
		of   *Net
		want bool
	}{"its own": {n, false}, "another's": {other, true}} {
		if taken, err := c.of.taken(); err != nil || taken != c.want {
			t.Errorf("%s subnet: taken() = %t, %v", name, taken, err)
		}
	}
}

// conn is a connection from the host's own network.
type conn struct{ net.Conn }

func dial(t *testing.T, address string) conn {
	t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort(address, "7"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return conn{c}
}

// expect sends a word and waits for its echo.
func (c conn) expect(t *testing.T, word string) {
	t.Helper()
	if _, err := io.WriteString(c, word); err != nil {
		t.Fatal(err)
	}
	c.received(t, word)
}

func (c conn) received(t *testing.T, word string) {
	t.Helper()
	got := make([]byte, len(word))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != word {
		t.Fatalf("got %q, %v, want %q", got, err, word)
	}
}

// expectSilence sends a word and checks that no response arrives.
func (c conn) expectSilence(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(c, "lost"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("received %d bytes, %v, want none", got, err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

func TestLeftovers_ExitedProcesses_AreFound(t *testing.T) {
	list := `2: eth0: <BROADCAST> mtu 1500
7: gkp00000a3fb: <BROADCAST> mtu 1500
8: gkp00000a3fp1@if2: <BROADCAST> mtu 1500
9: gkp00000b01p12@if2: <BROADCAST> mtu 1500
10: gkpx: <BROADCAST> mtu 1500
gkp00000a3fn1 (id: 0)
`
	got := leftovers(list, func(pid int) bool { return pid == 0xb })
	if want := []string{"gkp00000a3fb", "gkp00000a3fp1", "gkp00000a3fn1"}; !slices.Equal(got, want) {
		t.Errorf("leftovers() = %q, want %q", got, want)
	}
	if !alive(os.Getpid()) {
		t.Error("alive() = false for this process")
	}
}

func TestSweep_RemovesLeftoversOfKilledProcess(t *testing.T) {
	n := open(t)
	// Create a namespace named after a process that has exited.
	exited := exec.Command("true")
	if err := exited.Run(); err != nil {
		t.Fatal(err)
	}
	name := prefix(exited.Process.Pid) + "00n1"
	if err := do("ip", "netns", "add", name); err != nil {
		t.Fatal(err)
	}
	removed, err := Sweep()
	if err != nil || !slices.Contains(removed, name) {
		t.Errorf("Sweep() = %q, %v, want %s", removed, err, name)
	}
	for _, ours := range removed {
		if strings.HasPrefix(ours, n.name) {
			t.Errorf("Sweep() removed %s, which is in use", ours)
		}
	}
}

func TestDiscipline_ReturnsTCArguments(t *testing.T) {
	for want, s := range map[string]network.State{
		"":                                       {Down: true},
		"netem delay 20000us 10000us loss 5.00%": {Delay: 10 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.05},
		"tbf rate 8000bit burst 16kb latency 300ms": {Rate: 1000},
	} {
		if got := strings.Join(discipline(s), " "); got != want {
			t.Errorf("discipline(%+v) = %q, want %q", s, got, want)
		}
	}
}

func TestDropFilter_ComparesOneAddress(t *testing.T) {
	if got, want := dropFilter(destination, "198.18.0.2"), "4,32 0 0 30,21 0 1 3323068418,6 0 0 2,6 0 0 4294967295"; got != want {
		t.Errorf("dropFilter() = %s, want %s", got, want)
	}
}
