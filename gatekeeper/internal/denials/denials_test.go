package denials

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func ask(name, acquirer string) semaphore.Request {
	return semaphore.Request{Semaphore: name, Identity: semaphore.Identity{Group: "prod", Acquirer: acquirer}, Weight: 1}
}

func (m *Memory) names(now time.Time) (names []string) {
	for _, d := range m.All(now) {
		names = append(names, d.Semaphore+" "+d.Identity.Acquirer)
	}
	return names
}

func TestDenied_AgainForTheSameReason_IsCounted(t *testing.T) {
	var m Memory
	for i := range 3 {
		req := ask("job", "app1")
		req.Identity.HolderID = fmt.Sprint(i)
		m.Denied(req, semaphore.GroupMismatch, fmt.Sprint("message ", i), noon.Add(time.Duration(i)*time.Hour))
	}
	of := m.Of("job", noon)
	if len(of) != 1 {
		t.Fatalf("Of() = %v, want one denial", of)
	}
	d := of[0]
	if d.Count != 3 || !d.First.Equal(noon) || !d.Last.Equal(noon.Add(2*time.Hour)) || d.Message != "message 2" || d.Identity.HolderID != "2" {
		t.Errorf("Of() = %+v, want three denials with the last message", d)
	}
	m.Denied(ask("job", "app1"), semaphore.AcquirerMismatch, "other", noon.Add(3*time.Hour))
	if d := m.Of("job", noon)[0]; d.Count != 1 || !d.First.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("after a denial for another reason: %+v, want a new count", d)
	}
}

func TestChanged_ReturnsNewDenialsWithoutRepetitions(t *testing.T) {
	var m Memory
	var seen uint64
	wants := func(after string, want ...string) {
		t.Helper()
		names, now := m.Changed(seen)
		if seen = now; !slices.Equal(names, want) {
			t.Errorf("after %s: Changed() = %v, want %v", after, names, want)
		}
	}
	wants("nothing")
	a, b := ask("a", "app1"), ask("b", "app1")
	m.Denied(b, semaphore.Paused, "", noon)
	m.Denied(a, semaphore.Paused, "", noon)
	wants("the first denials", "a", "b")
	wants("nothing")
	m.Denied(a, semaphore.Paused, "", noon)
	wants("the first repetition", "a")
	for range 3 {
		m.Denied(a, semaphore.Paused, "", noon)
	}
	wants("more repetitions")
	m.Denied(a, semaphore.Cordoned, "", noon)
	wants("another reason", "a")
	m.Passed(&b)
	m.Passed(&b)
	wants("a grant", "b")
	m.Passed(&b)
	m.Denied(ask("none", "app1"), semaphore.NoSuchSemaphore, "", noon)
	wants("a second grant, and an undefined name")
	m.Clear()
	m.Denied(a, semaphore.Paused, "", noon)
	wants("a denial by the next leader", "a")
}

func TestPassed_ThenDeniedAgain_StartsANewCount(t *testing.T) {
	var m Memory
	req := ask("job", "app1")
	m.Passed(&req) // has no effect on an empty memory
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

func TestDenied_DefinitionComesAndGoes_IsKeptOnce(t *testing.T) {
	var m Memory
	for i, reason := range []semaphore.Reason{semaphore.NoSuchSemaphore, semaphore.GroupMismatch, semaphore.NoSuchSemaphore} {
		m.Denied(ask("job", "app1"), reason, "", noon.Add(time.Duration(i)))
		if all := m.All(noon); len(all) != 1 || all[0].Reason != reason {
			t.Fatalf("after %v: All() = %v, want one denial for that reason", reason, all)
		}
		if of := m.Of("job", noon); (len(of) == 1) != (reason != semaphore.NoSuchSemaphore) {
			t.Fatalf("after %v: Of() = %v, want a denial only for a defined name", reason, of)
		}
	}
	req := ask("job", "app1")
	m.Passed(&req)
	if d := m.All(noon)[0]; !d.Passed {
		t.Error("Passed = false after Passed()")
	}
}

func TestDenied_ManyUndefinedNames_EvictOnlyTheirCallers(t *testing.T) {
	var m Memory
	m.Denied(ask("job", "app1"), semaphore.GroupMismatch, "", noon)
	m.Denied(ask("jbo", "app2"), semaphore.NoSuchSemaphore, "", noon)
	for i := range 10 * maxPerShelf * maxStrangers {
		m.Denied(ask(fmt.Sprint("name-", i), "app3"), semaphore.NoSuchSemaphore, "", noon.Add(time.Duration(i)))
	}
	if n := len(m.All(noon)); n != 2+maxPerShelf {
		t.Errorf("All() has %d denials: %v", n, m.names(noon))
	}
	for _, want := range []string{"job app1", "jbo app2", fmt.Sprint("name-", 10*maxPerShelf*maxStrangers-1, " app3")} {
		if !slices.Contains(m.names(noon), want) {
			t.Errorf("All() lacks %s: %v", want, m.names(noon))
		}
	}
}

func TestDenied_ManySemaphoresAndCallers_IsBounded(t *testing.T) {
	var m Memory
	for i := range 3 * maxSemaphores {
		for j := range maxPerShelf + 2 {
			m.Denied(ask(fmt.Sprint("job-", i), fmt.Sprint("app", j)), semaphore.GroupMismatch, "", noon)
			m.Denied(ask(fmt.Sprint("none-", j), fmt.Sprint("host", i)), semaphore.NoSuchSemaphore, "", noon)
		}
	}
	all := m.All(noon)
	if want := maxPerShelf * (maxSemaphores + maxStrangers); len(all) != want || int(m.count.Load()) != want {
		t.Errorf("All() has %d denials and count is %d, want %d", len(all), m.count.Load(), want)
	}
	if len(m.known.shelves) != m.known.order.Len() || len(m.unknown.shelves) != m.unknown.order.Len() {
		t.Error("the map and the list differ in length")
	}
	m.Clear()
	if len(m.All(noon)) != 0 || m.count.Load() != 0 {
		t.Error("Clear() left denials")
	}
}

func TestAll_OlderThanAWeek_IsLeftOut(t *testing.T) {
	var m Memory
	m.Denied(ask("old", "app1"), semaphore.GroupMismatch, "", noon)
	m.Denied(ask("new", "app1"), semaphore.GroupMismatch, "", noon.Add(2))
	m.Denied(ask("newer", "app1"), semaphore.NoSuchSemaphore, "", noon.Add(3))
	if got := fmt.Sprint(m.names(noon.Add(kept + 1))); got != "[newer app1 new app1]" {
		t.Errorf("All() = %s, want the two newer denials", got)
	}
	if len(m.Of("old", noon.Add(kept+1))) != 0 {
		t.Error("Of() returned a denial that is too old")
	}
}
