package consensus

import (
	"math/rand/v2"
	"time"

	"github.com/hashicorp/raft"
)

// In Raft (v1.8.0), a follower checks once every one to two heartbeat timeouts, at random, whether it has heard from
// its leader. Contact does not restart that timer, so a dead leader is noticed up to two timeouts later. Here, a
// follower checks as soon as the leader has been silent for one timeout plus a random delay.
//
// The check is Raft's own: this file only makes Raft's timer fire earlier. An extra check is therefore harmless, and
// without this file, elections would merely start later.

// maxStagger returns the upper limit of the random delay. Two followers that check at almost the same time both become
// candidates and split the votes, which costs an election timeout. To avoid that, the second must not check before it
// has received the first one's pre-vote, which takes one network latency.
func maxStagger(heartbeat time.Duration) time.Duration { return heartbeat / 8 }

// watchSilence makes Raft check for its leader whenever this member, as a follower, has not heard from a leader for the
// heartbeat timeout plus a random delay. A granted pre-vote counts as contact, because the candidate is about to
// request a vote. Raft already counts a granted vote as contact.
func (i *incoming) watchSilence() {
	if !i.waitRunning() {
		return
	}
	if i.onlyVoter() {
		i.check() // no other member could lead
	}
	since := time.Now()
	for {
		deadline := i.lastHeard(since).Add(i.timeout + rand.N(maxStagger(i.timeout)))
		select {
		case <-time.After(time.Until(deadline)):
		case <-i.done:
			return
		}
		if i.lastHeard(since).Add(i.timeout).After(time.Now()) {
			continue
		}
		// After a slow store call, Raft's main loop must first process the heartbeats that have arrived.
		if i.raft.State() == raft.Follower && i.waitIdle() && time.Since(i.lastHeard(since)) >= i.timeout {
			i.check()
		}
		since = time.Now()
	}
}

// onlyVoter reports whether this member is the only voter in its latest configuration. That is also true for an old
// copy of a data directory from before other members were added, which must never be started; see docs/reliability.md.
func (i *incoming) onlyVoter() bool {
	return i.isVoter(raft.ServerID(i.header.ID)) && voters(i.raft.GetConfiguration().Configuration().Servers) == 1
}

// lastHeard returns the time of the last contact with a leader or with a candidate that was granted a pre-vote, or
// since if that is later.
func (i *incoming) lastHeard(since time.Time) time.Time {
	if t := i.raft.LastContact(); t.After(since) {
		since = t
	}
	if t := i.preVoteGranted.Load(); t != nil && t.After(since) {
		since = *t
	}
	return since
}

// checkLeader makes Raft's main loop check for its leader now. Raft has no call for this, but a follower checks when
// its heartbeat timeout is shortened.
func (n *Node) checkLeader() {
	cfg := n.raft.ReloadableConfig()
	for _, timeout := range []time.Duration{n.cfg.Timeouts.Heartbeat - time.Nanosecond, n.cfg.Timeouts.Heartbeat} {
		cfg.HeartbeatTimeout = timeout
		if err := n.raft.ReloadConfig(cfg); err != nil {
			n.cfg.Logger.Error("cannot make Raft check whether it still has a leader", "error", err)
		}
	}
}
