package consensus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
)

// ErrMemberFounded means that another member of a new set already belongs to a cluster, but this member's data
// directory does not.
var ErrMemberFounded = errors.New("consensus: another member already belongs to a cluster")

// AgreeConfig configures Agree.
type AgreeConfig struct {
	// Listener accepts queries from the other members.
	Listener net.Listener
	// Dial makes connections to other members. Default: TCP.
	Dial   func(ctx context.Context, address string) (net.Conn, error)
	TLS    certs.Files
	Logger *slog.Logger

	warnEvery time.Duration // default: the constant warnEvery; changed only by tests
}

const (
	// The wait between two rounds of queries doubles from minQueryWait to maxQueryWait while nothing changes.
	minQueryWait = 20 * time.Millisecond
	maxQueryWait = time.Second
	// warnEvery is the time without progress after which the reason for waiting is logged, and the minimum interval
	// before a different reason is logged.
	warnEvery = 5 * time.Second
	// repeatWarning is the interval after which an unchanged reason is logged again.
	repeatWarning = time.Minute
)

// Agree makes the members of a new set agree on their cluster's id. The data directory must not have an id yet. Agree
// waits until all members are up or ctx ends. The package documentation explains why the members can never agree on two
// different ids.
//
// It returns a listener that replaces cfg.Listener and must be passed to Open. When Agree fails, it closes the
// listener, and the caller still owns the directory. It returns ErrNotAgreed if ctx ends first, ErrMemberFounded,
// ErrInvalidMember, or a system error.
func (f *DataDir) Agree(ctx context.Context, cfg AgreeConfig) (_ net.Listener, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	relay := newRelay(cfg.Listener)
	defer func() {
		if err != nil {
			err = errors.Join(err, relay.Close())
		}
	}()
	set := Config{Members: f.members}
	if _, err := set.bootstrap(f.MemberID(), ""); err != nil {
		return nil, err
	}
	a := newAgreement(f, cfg)
	a.layer = peer.New(peer.Config{
		ID:         f.MemberID(),
		Listener:   relay.lend(),
		Dial:       cfg.Dial,
		TLS:        cfg.TLS,
		Logger:     cfg.Logger,
		HeldID:     a.heldID,
		AnswerNote: a.answerQuery,
	})
	err = a.run(ctx)
	if err := errors.Join(err, a.layer.Close()); err != nil {
		return nil, err
	}
	return relay, nil
}

// digest returns a hash that identifies a set: its members, their addresses, and the cluster's name. The format is
// frozen.
func digest(clusterName string, members []Member) string {
	var all []string
	for _, m := range members {
		all = append(all, m.ID+"="+m.PeerAddress) // an id contains no =
	}
	slices.Sort(all)
	h := sha256.New()
	for _, s := range append([]string{clusterName}, all...) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// agreement is the state of one call to Agree.
type agreement struct {
	dataDir *DataDir
	layer   *peer.Layer
	log     *slog.Logger
	self    string
	set     string
	first   string   // the member that generates the id
	others  []Member // all but self, sorted

	changed chan struct{} // holds a token when another member reports a new state

	warnEvery   time.Duration
	lastEvent   time.Time // when the state last changed or a warning was last logged
	lastWarning string

	mu            sync.Mutex // guards own and latestQueries
	own           progress
	latestQueries map[string]peer.Note // the others' latest queries: a change prompts a new round, but is not trusted
}

func newAgreement(f *DataDir, cfg AgreeConfig) *agreement {
	a := &agreement{
		dataDir: f, log: cfg.Logger, self: f.MemberID(), set: digest(f.file.ClusterName, f.members),
		changed: make(chan struct{}, 1), own: progress{state: peer.Empty}, latestQueries: make(map[string]peer.Note),
		warnEvery: cfg.warnEvery, lastEvent: time.Now(),
	}
	if a.warnEvery == 0 {
		a.warnEvery = warnEvery
	}
	if f.seed.ClusterID != "" {
		id, _ := ParseClusterID(f.seed.ClusterID) // readSeed has already parsed it
		a.own = progress{peer.HoldsID, id}
	}
	for _, m := range f.members {
		if m.ID != a.self {
			a.others = append(a.others, m)
		}
	}
	slices.SortFunc(a.others, func(x, y Member) int { return strings.Compare(x.ID, y.ID) })
	a.first = min(a.self, a.others[0].ID)
	return a
}

func (a *agreement) current() progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.own
}

// heldID returns the id that this member has stored, for the peer layer.
func (a *agreement) heldID() string { return a.current().text() }

// text returns the id, or "" if there is none.
func (s progress) text() string {
	if s.id.IsZero() {
		return ""
	}
	return s.id.String()
}

// run queries the other members, round after round, until the cluster is founded.
func (a *agreement) run(ctx context.Context) error {
	a.log.Info("this server is starting a new cluster, which needs all of its members", slog.Any("members", memberIDs(a.dataDir.members)))
	for wait := minQueryWait; ; wait = min(2*wait, maxQueryWait) {
		received, problems := a.queryAll(ctx)
		own := a.current()
		next, waitsFor, err := decide(a.self, a.first, own, received, memberIDs(a.others))
		maps.Copy(problems, waitsFor)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w: %w; waited for %s", ErrNotAgreed, context.Cause(ctx), joinProblems(problems))
		case err != nil:
			return err
		case next != own:
			if err := a.advance(next); err != nil {
				return err
			}
			if next.state == peer.Founded {
				return nil
			}
			wait = minQueryWait / 2
			a.lastEvent = time.Now()
			continue
		}
		a.warn(problems)
		select {
		case <-a.changed:
			wait = minQueryWait / 2
			select { // any peer can claim to have news, but must not cause a tight loop
			case <-time.After(minQueryWait):
			case <-ctx.Done():
			}
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// queryAll queries all other members concurrently, and returns their states, or why they could not be read.
func (a *agreement) queryAll(ctx context.Context) (received map[string]progress, problems map[string]string) {
	var mu sync.Mutex // guards the results
	received, problems = make(map[string]progress), make(map[string]string)
	own := a.current()
	var queries sync.WaitGroup
	for _, m := range a.others {
		queries.Go(func() {
			answer, err := a.layer.Query(ctx, m.PeerAddress, a.note(m.ID, own))
			var other progress
			if err == nil {
				other, err = parseAnswer(answer)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				problems[m.ID] = fmt.Sprintf("at %s: %v", m.PeerAddress, err)
				return
			}
			received[m.ID] = other
		})
	}
	queries.Wait()
	return received, problems
}

func (a *agreement) note(to string, own progress) peer.Note {
	return peer.Note{Cluster: own.text(), From: a.self, To: to, Set: a.set, State: own.state}
}

// answerQuery answers another member's query. It reports only what is on disk.
func (a *agreement) answerQuery(q peer.Note) (peer.Note, error) {
	if !slices.ContainsFunc(a.others, func(m Member) bool { return m.ID == q.From }) || q.Set != a.set {
		return peer.Note{}, fmt.Errorf("%s was started with different members or a different cluster name than %s: start all of them with the same settings", a.self, q.From)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.latestQueries[q.From] != q {
		a.latestQueries[q.From] = q
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
	return a.note(q.From, a.own), nil
}

// advance stores this member's new state before other members can see it.
func (a *agreement) advance(next progress) (err error) {
	if next == mustGenerateID {
		next.id = NewClusterID()
	}
	msg := "stored the id of the new cluster"
	if next.state == peer.Founded {
		msg = "the new cluster has been founded: all of its members have stored its id"
		err = a.dataDir.found(next.id)
	} else {
		err = a.dataDir.hold(next.id, a.set)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.own = next
	a.mu.Unlock()
	a.log.Info(msg, slog.String("cluster_id", next.text()))
	return nil
}

// hold stores the id of a cluster that has not been founded yet.
func (f *DataDir) hold(id ClusterID, set string) error {
	seed := seedFile{Format: 1, ClusterID: id.String(), MemberID: f.file.MemberID, Set: set}
	if err := f.write(seedFileName, seed); err != nil {
		return err
	}
	f.seed = seed
	return nil
}

// warn periodically logs what this member is waiting for.
func (a *agreement) warn(problems map[string]string) {
	text, now := joinProblems(problems), time.Now()
	if text == "" || now.Sub(a.lastEvent) < a.warnEvery || text == a.lastWarning && now.Sub(a.lastEvent) < repeatWarning {
		return
	}
	a.lastWarning, a.lastEvent = text, now
	a.log.Warn("the new cluster cannot start yet", slog.String("waiting_for", text))
}

// joinProblems joins all problems, sorted by member.
func joinProblems(problems map[string]string) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(problems)) {
		all = append(all, id+" "+problems[id])
	}
	return strings.Join(all, "; ")
}
