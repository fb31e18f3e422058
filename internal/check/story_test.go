package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// scenario is a hand-written history. Each call and each response advances its clock by 10 ms.
type scenario struct {
	t       *testing.T
	at      time.Duration
	entries []history.Entry
	seq     int64
}

func newScenario(t *testing.T, def history.Definition) *scenario {
	s := &scenario{t: t, at: time.Second}
	s.edit(0, 10, def)
	return s
}

func (s *scenario) now() time.Duration { return s.at }

// begin records a call and returns a function that records its response. The call stays unanswered if the function is
// not called.
func (s *scenario) begin(r history.Request) func(history.Response) {
	s.at += 10 * time.Millisecond
	s.seq++
	if r.Semaphore == "" {
		r.Semaphore = "s"
	}
	done := history.NewRecorder(fmt.Sprintf("c%d", s.seq), s.now, func(e history.Entry) { s.entries = append(s.entries, e) }).Call(r)
	return func(answer history.Response) {
		s.at += 10 * time.Millisecond
		done(history.Known, answer, nil)
	}
}

func (s *scenario) edit(expected, version uint64, def history.Definition) {
	s.begin(history.Request{Kind: history.Edit, Definition: &def, ExpectedVersion: expected})(history.Response{Result: history.Done, Revision: version})
}

func (s *scenario) acquire(who string) history.Request {
	return history.Request{Kind: history.Acquire, Identity: history.Identity{Group: "g", Acquirer: who}, RequestID: who, Weight: 1}
}

// grant records a grant of a permit that the client relies on for a second after its call.
func (s *scenario) grant(who string, token uint64) {
	s.granted(s.acquire(who), token)
}

func (s *scenario) granted(r history.Request, token uint64) {
	s.begin(r)(history.Response{Result: history.Granted, Token: token, SafeUntil: s.at + 1010*time.Millisecond})
}

func (s *scenario) denied(who, reason string) {
	s.begin(s.acquire(who))(history.Response{Result: history.Denied, Reason: reason})
}

func (s *scenario) call(kind history.Kind, token uint64, result history.Result) {
	answer := history.Response{Result: result, Revision: 1}
	if result == history.Refreshed {
		answer.SafeUntil = s.at + 1010*time.Millisecond
	}
	s.begin(history.Request{Kind: kind, Token: token})(answer)
}

func (s *scenario) believe(client string, token uint64, from, until time.Duration) {
	s.entries = append(s.entries, history.Entry{Belief: &history.Belief{Client: client, Semaphore: "s", Token: token, Weight: 1, From: from, Until: until}})
}

func (s *scenario) advance(d time.Duration) { s.at += d }

func (s *scenario) check() Result {
	s.t.Helper()
	h, err := history.Gather(s.entries)
	if err != nil {
		s.t.Fatal(err)
	}
	return All(h, time.Minute)
}

// wantNoViolations fails the test if the scenario violates a guarantee.
func (s *scenario) wantNoViolations() {
	s.t.Helper()
	r := s.check()
	for _, v := range r.Violations {
		s.t.Errorf("got violation %v, want none", v)
	}
	if len(r.Undecided) > 0 {
		s.t.Errorf("got undecided semaphores %v, want none", r.Undecided)
	}
}

// wantViolation fails the test unless the scenario violates the given guarantee and the violation contains the given
// words.
func (s *scenario) wantViolation(guarantee Guarantee, want ...string) {
	s.t.Helper()
	r := s.check()
next:
	for _, v := range r.Violations {
		if v.Guarantee != guarantee {
			continue
		}
		for _, word := range want {
			if !strings.Contains(v.String(), word) {
				continue next
			}
		}
		return
	}
	s.t.Errorf("got violations %v, want one of %q containing %q", r.Violations, guarantee, want)
}
