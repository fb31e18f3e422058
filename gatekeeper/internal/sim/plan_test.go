package sim

import (
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// plan holds everything that a seed determines.
type plan struct {
	seed    uint64
	members int
	profile gatekeeper.Profile
	length  time.Duration
	rates   []float64 // clock rates of the processes, one for each machine
	// latencies holds the write latency of each member's disk. If it is empty, writes take no time.
	latencies []time.Duration
	// pace determines how often snapshots are taken. With the zero value, the servers use their defaults, and the run
	// is too short for a snapshot.
	pace   consensus.SnapshotPace
	faults []fault
}

// fault is a temporary failure that starts at a given time.
type fault struct {
	at, duration time.Duration
	kind         faultKind
	// first and second select members. 0 is the current leader; other values are other members.
	first, second int
	// severe selects the more severe of two variants.
	severe bool
}

type faultKind string

const (
	crash       faultKind = "crash"        // severe: peers are not notified
	crashAll    faultKind = "crash all"    // all members crash
	stop        faultKind = "stop"         // an operator stops a server
	isolate     faultKind = "isolate"      // a member is cut off from the others; severe: from clients too
	oneWay      faultKind = "one way"      // a member sends but does not receive; severe: the reverse
	bridge      faultKind = "bridge"       // two members cannot reach each other, but the others reach both
	slow        faultKind = "slow"         // everything that a member sends is delayed
	lossy       faultKind = "lossy"        // all connections lose packets
	pause       faultKind = "pause"        // a member sends, receives and writes nothing
	stall       faultKind = "stall"        // a disk stalls; severe: all disks
	hang        faultKind = "hang"         // a disk stalls until its server stops
	transfer    faultKind = "transfer"     // leadership is transferred
	reset       faultKind = "reset"        // a member's connections break
	clientCut   faultKind = "client cut"   // a client machine is cut off from all members; severe: it can only send
	clientCrash faultKind = "client crash" // a client process crashes
)

// faultKinds returns the kinds of faults. Kinds that should occur more often are repeated.
func faultKinds() []faultKind {
	return []faultKind{
		crash, crash, crash, crashAll, stop, stop, isolate, isolate, isolate, oneWay, oneWay, bridge, slow, lossy, pause, pause, pause,
		stall, stall, hang, transfer, transfer, reset, clientCut, clientCut, clientCut, clientCrash, clientCrash, clientCrash,
	}
}

// machines is the number of client machines.
const machines = 4

// rngFor returns one actor's random source, which is independent of the others.
func rngFor(seed uint64, actor string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(actor) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

func between(rng *rand.Rand, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(rng.Int64N(int64(hi-lo)+1))
}

func newPlan(seed uint64, length time.Duration) *plan {
	rng := rngFor(seed, "plan")
	p := &plan{seed: seed, members: 3, profile: gatekeeper.ProfileFast, length: length}
	if rng.IntN(5) == 0 {
		p.members = 5
	}
	if rng.IntN(3) == 0 {
		p.profile = gatekeeper.ProfileDefault
	}
	for range machines {
		p.rates = append(p.rates, []float64{0.99, 1, 1, 1.01}[rng.IntN(4)])
	}
	if rng.IntN(2) == 0 {
		p.pace = consensus.SnapshotPace{Threshold: 20 + rng.Uint64N(60), Interval: time.Second, Trailing: rng.Uint64N(40)}
	}
	for range p.members {
		p.latencies = append(p.latencies, []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 30 * time.Millisecond}[rng.IntN(4)])
	}
	kinds := faultKinds()
	for at := between(rng, time.Second, 6*time.Second); at < length; at += between(rng, 500*time.Millisecond, 9*time.Second) {
		f := fault{at: at, kind: kinds[rng.IntN(len(kinds))], severe: rng.IntN(2) == 0}
		if rng.IntN(5) > 1 {
			f.first = 0
		} else {
			f.first = 1 + rng.IntN(p.members-1)
		}
		f.second = (f.first + 1 + rng.IntN(p.members-1)) % p.members
		f.duration = between(rng, 50*time.Millisecond, 5*time.Second)
		p.faults = append(p.faults, f)
	}
	return p
}
