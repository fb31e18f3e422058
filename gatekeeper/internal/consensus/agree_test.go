package consensus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// startingMember is a member of a new set. It can be started more than once on the same directory.
type startingMember struct {
	Member
	t       *testing.T
	dir     string
	set     []Member
	name    string // cluster name
	faults  *faults
	network *pipes // nil for loopback sockets

	cancel     context.CancelFunc
	ended      chan struct{} // closed when Agree has returned and the fields below are valid
	id         ClusterID
	err        error
	stopServer func() // stops the server that serve started

	log startLog
}

// startLog records a member's log. line, if set, may make the member crash.
type startLog struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
	line func(string) // called with each line
}

func (l *startLog) Write(p []byte) (int, error) {
	if l.line != nil {
		l.line(string(p))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *startLog) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// newSet creates members on free ports, without starting them.
func newSet(t *testing.T, ids ...string) []*startingMember {
	t.Helper()
	set, listeners := namedSet(t, ids...)
	var all []*startingMember
	for i, m := range set {
		listeners[i].Close() // the member does not listen until it is started
		all = append(all, &startingMember{Member: m, t: t, dir: t.TempDir(), set: set, name: "test"})
	}
	return all
}

// start starts the member in the background.
func (s *startingMember) start() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.cancel, s.ended, s.id, s.err, s.stopServer = cancel, make(chan struct{}), ClusterID{}, nil, func() {}
	s.t.Cleanup(s.stop)
	dataDir, err := PrepareDataDir(DataDirConfig{Dir: s.dir, MemberID: s.ID, ClusterName: s.name, Members: s.set})
	if err != nil {
		s.t.Fatal(err)
	}
	if id := dataDir.ClusterID(); !id.IsZero() { // already founded
		s.id = id
		s.serve(dataDir, s.listen())
		close(s.ended)
		return
	}
	cfg := AgreeConfig{Listener: s.listen(), Dial: dialTCP, Logger: slog.New(slog.NewTextHandler(&s.log, nil)), warnEvery: time.Nanosecond}
	if s.network != nil {
		cfg.Dial = s.network.dial
	}
	if s.faults != nil {
		cfg = s.faults.apply(cfg, cancel)
		s.log.line = s.faults.line
	}
	go func() {
		defer close(s.ended)
		listener, err := dataDir.Agree(ctx, cfg)
		if s.id, s.err = dataDir.ClusterID(), err; err != nil {
			dataDir.Close()
			return
		}
		s.serve(dataDir, listener)
	}()
}

func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

func (s *startingMember) listen() net.Listener {
	if s.network != nil {
		return s.network.listen(s.PeerAddress)
	}
	return listenAt(s.t, s.PeerAddress)
}

// serve responds like a member of a founded cluster, without bootstrapping Raft.
func (s *startingMember) serve(dataDir *DataDir, listener net.Listener) {
	layer := newPeerLayer(dataDir, listener)
	s.stopServer = func() {
		layer.Close()
		dataDir.Close()
	}
}

// stop stops the member in any state.
func (s *startingMember) stop() {
	s.cancel()
	<-s.ended
	s.stopServer()
}

// wipe stops the member and replaces its data directory with an empty one.
func (s *startingMember) wipe() {
	s.t.Helper()
	s.stop()
	s.dir = s.t.TempDir()
}

// waitFounded waits until the member has founded the cluster, and returns its id.
func (s *startingMember) waitFounded() ClusterID {
	s.t.Helper()
	<-s.ended
	if s.err != nil {
		s.t.Fatalf("%s: %v", s.ID, s.err)
	}
	return s.id
}

// waitAllFounded waits until all members have founded the cluster, and returns the id on which they agree.
func waitAllFounded(t *testing.T, set []*startingMember) ClusterID {
	t.Helper()
	for _, s := range set {
		if id := s.waitFounded(); id != set[0].id || id.IsZero() || id.Incarnation != 1 {
			t.Fatalf("%s founded %v, but %s founded %v", set[0].ID, set[0].id, s.ID, id)
		}
	}
	return set[0].id
}

func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}

func TestAgree_AnyStartOrder_MembersAgreeOnID(t *testing.T) {
	ids := make(map[ClusterID]bool)
	for _, order := range permutations(3) {
		set := newSet(t, "gk1", "gk2", "gk3")
		for n, i := range order {
			set[i].start()
			for _, j := range order[:n] { // wait until each earlier member has queried the others in vain
				until(t, "a waiting member logs that it cannot start yet", func() bool { return n == 2 || set[j].log.contains("cannot start yet") })
			}
			if n < 2 {
				for _, j := range order[:n+1] {
					if _, err := os.Stat(filepath.Join(set[j].dir, seedFileName)); err == nil {
						t.Fatalf("order %v: %s stored an id before %s was started", order, set[j].ID, set[order[2]].ID)
					}
				}
			}
		}
		ids[waitAllFounded(t, set)] = true
	}
	if len(ids) != 6 {
		t.Errorf("got cluster ids %v, want six different ids", ids)
	}
}

// faults makes a member crash at a chosen step.
type faults struct {
	point string
	at    int64 // occurrence of that step, counting from 1

	cancel context.CancelFunc

	mu       sync.Mutex // guards the fields below
	count    int64
	dead     bool
	disabled bool // ignore further steps
}

// reach counts a step. It returns false once the member has crashed.
func (f *faults) reach(point string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.disabled {
		return !f.dead
	}
	if point == f.point {
		f.count++
	}
	if f.count == f.at {
		f.dead, f.disabled = true, true
		f.cancel()
	}
	return !f.dead
}

// disable prevents a later crash, and reports whether the member has already crashed.
func (f *faults) disable() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disabled = true
	return f.dead
}

func (f *faults) apply(cfg AgreeConfig, cancel context.CancelFunc) AgreeConfig {
	f.cancel = cancel
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		c, err := dial(ctx, address)
		return &faultyConn{c, f, "query sent", "answer received"}, err
	}
	cfg.Listener = &faultyListener{cfg.Listener, f}
	return cfg
}

func (f *faults) line(text string) {
	if strings.Contains(text, "stored") {
		f.reach("stored")
	}
}

type faultyConn struct {
	net.Conn
	faults      *faults
	write, read string
}

func (c *faultyConn) Write(p []byte) (int, error) {
	if !c.faults.reach(c.write) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

func (c *faultyConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.faults.reach(c.read) {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *faultyConn) Close() error {
	if c.Conn == nil {
		return nil
	}
	return c.Conn.Close()
}

type faultyListener struct {
	net.Listener
	faults *faults
}

func (l *faultyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &faultyConn{c, l.faults, "answer sent", "query received"}, nil
}

// Every member crashes once at every step: after storing its state, before sending a message, and after receiving a
// message.
func TestAgree_CrashAtEachStep_MembersAgreeOnID(t *testing.T) {
	for point, steps := range map[string]int64{"stored": 2, "query sent": 8, "answer received": 8, "query received": 8, "answer sent": 8} {
		for i := range 3 {
			t.Run(fmt.Sprintf("%s by gk%d", point, i+1), func(t *testing.T) {
				t.Parallel()
				for step := range steps {
					set := newSet(t, "gk1", "gk2", "gk3")
					set[i].faults = &faults{point: point, at: step + 1}
					for _, s := range set {
						s.start()
					}
					<-set[i].ended
					crashed := set[i].faults.disable()
					if crashed {
						set[i].stop()
						set[i].faults = nil
						set[i].log.line = nil
						set[i].start()
					}
					waitAllFounded(t, set)
					if !crashed { // all steps have been tested
						return
					}
				}
			})
		}
	}
}

// A member other than the first may lose its directory before the cluster is founded. It then starts over with an empty
// directory.
func TestAgree_MemberWipedBeforeFounding_StartsOver(t *testing.T) {
	set := newSet(t, "gk1", "gk2", "gk3")
	set[2].faults = &faults{point: "stored", at: 1}
	for _, s := range set {
		s.start()
	}
	<-set[2].ended
	set[2].wipe()
	set[2].faults, set[2].log.line = nil, nil
	set[2].start()
	if err := errors.Join(waitEnded(set[2])...); err != nil { // the first member had already founded the cluster
		if !errors.Is(err, ErrMemberFounded) {
			t.Fatal(err)
		}
		set = set[:2]
	}
	waitAllFounded(t, set)
}

func waitEnded(set ...*startingMember) (errs []error) {
	for _, s := range set {
		<-s.ended
		errs = append(errs, s.err)
	}
	return errs
}

// hold makes the member store an id as if the first member had drawn it.
func (s *startingMember) hold(id ClusterID) {
	s.t.Helper()
	f, err := PrepareDataDir(DataDirConfig{Dir: s.dir, MemberID: s.ID, ClusterName: s.name, Members: s.set})
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if err := f.hold(id, digest(s.name, s.set)); err != nil {
		s.t.Fatal(err)
	}
}

func TestAgree_FirstMemberWipedBeforeFounding_NamesDataDirsToEmpty(t *testing.T) {
	set := newSet(t, "gk1", "gk2", "gk3")
	set[1].hold(testClusterID)
	for _, s := range set {
		s.start()
	}
	until(t, "both members log which directory to empty", func() bool {
		return set[0].log.contains("stop gk2, empty its data directory") && set[1].log.contains("stop gk2, empty its data directory")
	})
	set[1].wipe()
	set[1].start()
	if id := waitAllFounded(t, set); id == testClusterID {
		t.Error("the first member adopted an id that it had not drawn")
	}
}

func TestAgree_AnotherMemberHasData_RefusesToStart(t *testing.T) {
	for _, lost := range [][]int{{0}, {1}, {2}, {0, 1}, {1, 2}} {
		set := newSet(t, "gk1", "gk2", "gk3")
		for _, s := range set {
			s.start()
		}
		first := waitAllFounded(t, set)
		for _, i := range lost {
			set[i].wipe()
			set[i].start()
		}
		for _, i := range lost {
			if <-set[i].ended; !errors.Is(set[i].err, ErrMemberFounded) || !strings.Contains(set[i].err.Error(), "--join") {
				t.Errorf("%s, after %v lost their data: got error %v, want ErrMemberFounded", set[i].ID, lost, set[i].err)
			}
			if _, err := os.Stat(filepath.Join(set[i].dir, seedFileName)); err == nil {
				t.Errorf("%s stored an id after %v lost their data", set[i].ID, lost)
			}
		}
		// They also do not start while the members with data are down.
		for _, s := range set {
			s.stop()
		}
		for _, i := range lost {
			set[i].log = startLog{}
			set[i].start()
		}
		for _, i := range lost {
			until(t, "the member logs that it is waiting", func() bool { return set[i].log.contains("cannot start yet") })
			set[i].stop()
			if !errors.Is(set[i].err, ErrNotAgreed) || !errors.Is(set[i].err, context.Canceled) {
				t.Errorf("%s, after %v lost their data and with the others down: got error %v, want ErrNotAgreed", set[i].ID, lost, set[i].err)
			}
		}
		// Once all directories are lost, the members found a new cluster.
		if len(lost) == 2 {
			for _, s := range set {
				s.wipe()
				s.start()
			}
			if again := waitAllFounded(t, set); again == first {
				t.Error("the new cluster has the same id as the old one")
			}
		}
	}
}

func TestAgree_DifferentSets_DoNotStartTogether(t *testing.T) {
	for name, change := range map[string]func(*startingMember){
		"cluster name": func(s *startingMember) { s.name = "other" },
		"members": func(s *startingMember) {
			s.set = append(slices.Clone(s.set), Member{ID: "gk4", PeerAddress: "127.0.0.1:1"})
		},
		"an address": func(s *startingMember) {
			s.set = slices.Clone(s.set)
			s.set[2].PeerAddress = "127.0.0.1:1"
		},
	} {
		set := newSet(t, "gk1", "gk2", "gk3")
		change(set[1])
		for _, s := range set {
			s.start()
		}
		for i, s := range set[:2] {
			other := set[1-i].ID
			until(t, name+": the other member is refused", func() bool {
				return s.log.contains(other + " was started with different members or a different cluster name than " + s.ID)
			})
		}
		for _, s := range set {
			s.stop()
			if !errors.Is(s.err, ErrNotAgreed) {
				t.Errorf("%s: %s: got error %v, want ErrNotAgreed", name, s.ID, s.err)
			}
		}
	}
}

// Staging uses the same names as production, and its member list contains a production address by mistake.
func TestAgree_ClustersWithSameNames_StaySeparate(t *testing.T) {
	production, staging := newSet(t, "gk1", "gk2", "gk3"), newSet(t, "gk1", "gk2", "gk3")
	for _, s := range production {
		s.start()
	}
	waitAllFounded(t, production)
	mistaken := []Member{staging[0].Member, staging[1].Member, production[2].Member}
	for _, s := range staging[:2] {
		s.set = mistaken
		s.start()
	}
	for i, err := range waitEnded(staging[:2]...) {
		if !errors.Is(err, ErrMemberFounded) {
			t.Errorf("%s: got error %v, want ErrMemberFounded", staging[i].ID, err)
		}
	}
}

// An impostor can claim to be a member, or connect and send nothing. Neither may affect the members.
func TestAgree_Impostors_HaveNoEffect(t *testing.T) {
	set := newSet(t, "gk1", "gk2", "gk3")
	set[0].start()
	until(t, "the member logs that it is waiting", func() bool { return set[0].log.contains("cannot start yet") })
	note := func(fields ...string) []byte {
		var body []byte
		for _, f := range fields {
			body = binary.BigEndian.AppendUint16(body, uint16(len(f)))
			body = append(body, f...)
		}
		return append(binary.BigEndian.AppendUint16([]byte("gkpeer\x00\x01\x04"), uint16(len(body))), body...)
	}
	setDigest := digest("test", set[0].set)
	long := strings.Repeat("x", 300)
	for _, message := range [][]byte{
		nil, {}, []byte("GET / HTTP/1.1\r\n\r\n"), []byte("gkpeer\x00\x01\x04\xff\xff"), []byte("gkpeer\x00\x01\x05\x00\x00"), []byte("gkpeer\x00\x01\x04\x00\x03\x00\x09x"),
		note("", "gk9", "gk1", setDigest, "empty"), note("", "gk1", "gk1", setDigest, "empty"), note("", "gk2", "gk3", setDigest, "empty"),
		note("", "gk2", "gk1", "other", "empty"), note(long, long, "gk1", setDigest, "empty"),
		note("0000000000000009.1", "gk2", "gk1", setDigest, "holds"), note("0000000000000009.1", "gk3", "gk1", setDigest, "holds"),
		note("0000000000000009.1", "gk2", "gk1", setDigest, "founded"),
	} {
		c, err := net.Dial("tcp", set[0].PeerAddress)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() }) // keep the connection open without sending more
		if _, err := c.Write(message); err != nil {
			t.Fatal(err)
		}
		if len(message) > 60 { // a complete note
			_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
			_, _ = c.Read(make([]byte, 1)) // wait until the note has been processed
		}
	}
	if _, err := os.Stat(filepath.Join(set[0].dir, seedFileName)); err == nil {
		t.Fatal("the member stored an id because of impostors")
	}
	set[1].start()
	set[2].start()
	if id := waitAllFounded(t, set); id.Seed == 9 {
		t.Error("the cluster has the impostor's id")
	}
}

func TestAgree_InMemoryListeners_MembersAgreeOnID(t *testing.T) {
	set := newSet(t, "gk1", "gk2")
	network := &pipes{listeners: make(map[string]*pipeListener)}
	for _, s := range set {
		s.network = network
		s.start()
	}
	waitAllFounded(t, set)
}

// pipes is an in-memory network.
type pipes struct {
	mu        sync.Mutex // guards listeners
	listeners map[string]*pipeListener
}

func (p *pipes) listen(address string) net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &pipeListener{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	p.listeners[address] = l
	return l
}

func (p *pipes) dial(ctx context.Context, address string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listeners[address]
	p.mu.Unlock()
	if l == nil {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
	case <-ctx.Done():
	}
	return nil, errors.Join(net.ErrClosed, near.Close(), far.Close())
}

type pipeListener struct {
	address string
	conns   chan net.Conn
	closing sync.Once
	closed  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: l.address} }

// A directory left by an unfinished start can be used only with the same settings.
func TestDataDir_UnfinishedStart_RequiresSameSettings(t *testing.T) {
	set := newSet(t, "gk1", "gk2", "gk3")
	set[1].hold(testClusterID)
	same := DataDirConfig{MemberID: "gk2", ClusterName: "test", Members: set[0].set}
	for name, change := range map[string]func(*DataDirConfig){
		"member":  func(c *DataDirConfig) { c.MemberID = "gk1" },
		"name":    func(c *DataDirConfig) { c.ClusterName = "other" },
		"members": func(c *DataDirConfig) { c.Members = c.Members[:2] },
		"alone":   func(c *DataDirConfig) { c.Members = nil },
		"join":    func(c *DataDirConfig) { c.Members, c.Join = nil, true },
	} {
		cfg := same
		change(&cfg)
		t.Log(name)
		wantPrepareError(t, set[1].dir, cfg, "start it with the same settings as before, or empty the directory")
	}
	f := prepare(t, set[1].dir, same)
	if err := f.found(testClusterID); err != nil {
		t.Fatal(err)
	}
	f.Close()
	// Founded, but not bootstrapped yet.
	other := same
	other.Members = other.Members[:2]
	wantPrepareError(t, set[1].dir, other, "start it with the same settings as before")
	if f := prepare(t, set[1].dir, same); f.ClusterID() != testClusterID {
		t.Errorf("ClusterID() = %v, want the id the members agreed on", f.ClusterID())
	}
}

func TestDataDir_SeveralMembers_HaveNoIDBeforeAgreement(t *testing.T) {
	f := prepare(t, t.TempDir(), DataDirConfig{MemberID: "gk1", ClusterName: "main", Members: threeMembers})
	if _, err := Open(Config{DataDir: f}); !errors.Is(err, ErrNotAgreed) {
		t.Errorf("Open() = %v, want ErrNotAgreed", err)
	}
	one := prepare(t, t.TempDir(), DataDirConfig{MemberID: "gk1", ClusterName: "main", Members: threeMembers[:1]})
	if one.ClusterID().IsZero() {
		t.Error("ClusterID() is zero for a set of one member")
	}
}

func TestRelay_UnacceptedConnections_PassToNextUser(t *testing.T) {
	listener := listen(t)
	r := newRelay(listener)
	first := r.lend()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept on a closed loan = %v, want net.ErrClosed", err)
	}
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	left, err := r.Accept()
	if err != nil {
		t.Fatal(err)
	}
	left.Close()
	waiting, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := waiting.Read(make([]byte, 1)); err == nil {
		t.Error("a connection that was never accepted is still open after Close")
	}
	if _, err := r.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close = %v, want net.ErrClosed", err)
	}
}
