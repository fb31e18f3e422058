package denials

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func newRequest(name, acquirer string) semaphore.Request {
	return semaphore.Request{Semaphore: name, Identity: semaphore.Identity{Group: "prod", Acquirer: acquirer}, Weight: 1}
}

func (m *Recorder) names(now time.Time) (names []string) {
	for _, d := range m.All(now) {
		names = append(names, d.Semaphore+" "+d.Identity.Acquirer)
	}
	return names
}

func TestDenied_AgainForSameReason_IsCounted(t *testing.T) {
	var m Recorder
	for i := range 3 {
		req := newRequest("job", "app1")
		req.Identity.HolderID = fmt.Sprint(i)
		m.Denied(req, semaphore.GroupMismatch, fmt.Sprint("message ", i), noon.Add(time.Duration(i)*time.Hour))
	}
	got := m.Of("job", noon)
	if len(got) != 1 {
		t.Fatalf("Of() = %v, want one denial", got)
	}
	d := got[0]
	if d.Count != 3 || !d.First.Equal(noon) || !d.Last.Equal(noon.Add(2*time.Hour)) || d.Message != "message 2" || d.Identity.HolderID != "2" {
		t.Errorf("Of() = %+v, want three denials with the last message", d)
	}
	m.Denied(newRequest("job", "app1"), semaphore.AcquirerMismatch, "other", noon.Add(3*time.Hour))
	if d := m.Of("job", noon)[0]; d.Count != 1 || !d.First.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("after a denial for another reason: %+v, want a new count", d)
	}
}

func TestChanged_ReturnsNewDenialsWithoutRepetitions(t *testing.T) {
	var m Recorder
	var seen uint64
	wantChanged := func(after string, want ...string) {
		t.Helper()
		names, now := m.Changed(seen)
		if seen = now; !slices.Equal(names, want) {
			t.Errorf("after %s: Changed() = %v, want %v", after, names, want)
		}
	}
	wantChanged("nothing")
	a, b := newRequest("a", "app1"), newRequest("b", "app1")
	m.Denied(b, semaphore.Paused, "", noon)
	m.Denied(a, semaphore.Paused, "", noon)
	wantChanged("the first denials", "a", "b")
	wantChanged("nothing")
	m.Denied(a, semaphore.Paused, "", noon)
	wantChanged("the first repetition", "a")
	for range 3 {
		m.Denied(a, semaphore.Paused, "", noon)
	}
	wantChanged("more repetitions")
	m.Denied(a, semaphore.Cordoned, "", noon)
	wantChanged("another reason", "a")
	m.Passed(&b)
	m.Passed(&b)
	wantChanged("a grant", "b")
	m.Passed(&b)
	m.Denied(newRequest("none", "app1"), semaphore.NoSuchSemaphore, "", noon)
	wantChanged("a second grant, and an undefined name")
	m.Clear()
	m.Denied(a, semaphore.Paused, "", noon)
	wantChanged("a denial by the next leader", "a")
}

func TestPassed_ThenDeniedAgain_StartsNewCount(t *testing.T) {
	var m Recorder
	req := newRequest("job", "app1")
	m.Passed(&req) // no effect on an empty Recorder
	m.Denied(req, semaphore.Cordoned, "", noon)
	m.Passed(&req)
	if d := m.Of("job", noon)[0]; !d.Passed {
		t.Error("Passed = false after Passed()")
	}
	m.Denied(req, semaphore.Cordoned, "", noon.Add(time.Hour))
	if d := m.Of("job", noon)[0]; d.Passed || d.Count != 1 || !d.First.Equal(noon.Add(time.Hour)) {
		t.Errorf("after another denial: %+v, want a new count", d)
	}
}

func TestDenied_DefinitionCreatedAndDeleted_IsKeptOnce(t *testing.T) {
	var m Recorder
	for i, reason := range []semaphore.Reason{semaphore.NoSuchSemaphore, semaphore.GroupMismatch, semaphore.NoSuchSemaphore} {
		m.Denied(newRequest("job", "app1"), reason, "", noon.Add(time.Duration(i)))
		if all := m.All(noon); len(all) != 1 || all[0].Reason != reason {
			t.Fatalf("after %v: All() = %v, want one denial for that reason", reason, all)
		}
		if got := m.Of("job", noon); (len(got) == 1) != (reason != semaphore.NoSuchSemaphore) {
			t.Fatalf("after %v: Of() = %v, want a denial only for a defined name", reason, got)
		}
	}
	req := newRequest("job", "app1")
	m.Passed(&req)
	if d := m.All(noon)[0]; !d.Passed {
		t.Error("Passed = false after Passed()")
	}
}

func TestDenied_ManyUndefinedNames_EvictOnlyCallersOwnDenials(t *testing.T) {
	var m Recorder
	m.Denied(newRequest("job", "app1"), semaphore.GroupMismatch, "", noon)
	m.Denied(newRequest("jbo", "app2"), semaphore.NoSuchSemaphore, "", noon)
	for i := range 10 * maxPerBucket * maxUnknownCallers {
		m.Denied(newRequest(fmt.Sprint("name-", i), "app3"), semaphore.NoSuchSemaphore, "", noon.Add(time.Duration(i)))
	}
	if n := len(m.All(noon)); n != 2+maxPerBucket {
		t.Errorf("All() has %d denials, want %d: %v", n, 2+maxPerBucket, m.names(noon))
	}
	for _, want := range []string{"job app1", "jbo app2", fmt.Sprint("name-", 10*maxPerBucket*maxUnknownCallers-1, " app3")} {
		if !slices.Contains(m.names(noon), want) {
			t.Errorf("All() lacks %s: %v", want, m.names(noon))
		}
	}
}

func TestDenied_ManySemaphoresAndCallers_IsBounded(t *testing.T) {
	var m Recorder
	for i := range 3 * maxSemaphores {
		for j := range maxPerBucket + 2 {
			m.Denied(newRequest(fmt.Sprint("job-", i), fmt.Sprint("app", j)), semaphore.GroupMismatch, "", noon)
			m.Denied(newRequest(fmt.Sprint("none-", j), fmt.Sprint("host", i)), semaphore.NoSuchSemaphore, "", noon)
		}
	}
	all := m.All(noon)
	if want := maxPerBucket * (maxSemaphores + maxUnknownCallers); len(all) != want || int(m.count.Load()) != want {
		t.Errorf("All() has %d denials and count is %d, want %d", len(all), m.count.Load(), want)
	}
	if len(m.known.buckets) != m.known.order.Len() || len(m.unknown.buckets) != m.unknown.order.Len() {
		t.Error("buckets and order differ in length")
	}
	m.Clear()
	if len(m.All(noon)) != 0 || m.count.Load() != 0 {
		t.Error("denials remain after Clear()")
	}
}

func TestAll_OlderThanAWeek_IsOmitted(t *testing.T) {
	var m Recorder
	m.Denied(newRequest("old", "app1"), semaphore.GroupMismatch, "", noon)
	m.Denied(newRequest("new", "app1"), semaphore.GroupMismatch, "", noon.Add(2))
	m.Denied(newRequest("newer", "app1"), semaphore.NoSuchSemaphore, "", noon.Add(3))
	if got := fmt.Sprint(m.names(noon.Add(retention + 1))); got != "[newer app1 new app1]" {
		t.Errorf("All() = %s, want the two newer denials", got)
	}
	if len(m.Of("old", noon.Add(retention+1))) != 0 {
		t.Error("Of() returned a denial older than the retention")
	}
}
