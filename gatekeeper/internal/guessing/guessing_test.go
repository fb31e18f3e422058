package guessing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// clock is a fake clock.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 6, 1, 2, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) advance(d time.Duration) { c.now = c.now.Add(d) }

var (
	alice = netip.MustParseAddr("192.0.2.1")
	bob   = netip.MustParseAddr("192.0.2.2")
)

// fail makes a failed attempt. The attempt must be admitted.
func fail(t *testing.T, l *Limiter, from netip.Addr) {
	t.Helper()
	if err := l.Admit(from, "wrong"); err != nil {
		t.Fatal(err)
	}
	l.Failed(from, "wrong")
}

func wantBlocked(t *testing.T, l *Limiter, from netip.Addr, retry time.Duration) *BlockedError {
	t.Helper()
	e, ok := errors.AsType[*BlockedError](l.Admit(from, "a guess"))
	if !ok || e.Retry != retry {
		t.Fatalf("Admit(%v) = %v, want a block for %v", from, e, retry)
	}
	return e
}

func wantAdmitted(t *testing.T, l *Limiter, from netip.Addr) {
	t.Helper()
	if err := l.Admit(from, "a guess"); err != nil {
		t.Fatal(err)
	}
}

func TestAdmit_AfterTooManyFailures_IsRefusedUntilOneExpires(t *testing.T) {
	c := newClock()
	l := New(Config{Failures: 4, Window: time.Minute, Now: c.Now})
	for range 4 {
		fail(t, l, alice)
	}
	e := wantBlocked(t, l, alice, 15*time.Second)
	if !strings.Contains(e.Error(), "192.0.2.1") || !strings.Contains(e.Error(), "15s") {
		t.Error(e)
	}
	wantAdmitted(t, l, bob)
	if l.Blocked() != 1 || l.Refused() != 1 {
		t.Errorf("Blocked() = %d, Refused() = %d, want 1 and 1", l.Blocked(), l.Refused())
	}

	// Refused attempts do not extend the block.
	for range 1000 {
		wantBlocked(t, l, alice, 15*time.Second)
	}
	c.advance(15*time.Second - 1)
	wantBlocked(t, l, alice, 1)
	c.advance(1)
	fail(t, l, alice)
	wantBlocked(t, l, alice, 15*time.Second)

	c.advance(time.Minute)
	for range 4 {
		fail(t, l, alice)
	}
	wantBlocked(t, l, alice, 15*time.Second)
}

func TestAdmit_Successes_AreNotCounted(t *testing.T) {
	l := New(Config{Failures: 2, Now: newClock().Now})
	for range 100 {
		wantAdmitted(t, l, alice)
		l.Succeeded(alice, "right")
	}
	fail(t, l, alice)
	wantAdmitted(t, l, alice)
	if len(l.sources) != 1 {
		t.Errorf("got %d sources, want 1, because successes are not counted", len(l.sources))
	}
}

func TestAdmit_KnownCredential_IsAdmittedDespiteBlock(t *testing.T) {
	c := newClock()
	l := New(Config{Failures: 2, Now: c.Now})
	l.Succeeded(alice, "right")
	l.Succeeded(bob, "bob's")
	fail(t, l, alice)
	fail(t, l, alice)
	if err := l.Admit(alice, "right"); err != nil {
		t.Error(err)
	}
	if err := l.Admit(alice, "bob's"); err == nil {
		t.Error("a credential that was valid only from another address was admitted")
	}
	// The credential was revoked.
	l.Failed(alice, "right")
	if err := l.Admit(alice, "right"); err == nil {
		t.Error("a revoked credential was admitted")
	}
	wantBlocked(t, l, alice, 30*time.Second) // failures beyond the limit do not extend the block
}

func TestSourceOf_IsIPv4AddressOrIPv6Network(t *testing.T) {
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"2001:db8::1", "2001:db8::ffff:1:2:3", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"::", "0.0.0.0", false},
	} {
		if got := SourceOf(netip.MustParseAddr(c.one)) == SourceOf(netip.MustParseAddr(c.other)); got != c.same {
			t.Errorf("%s and %s: same source = %v, want %v", c.one, c.other, got, c.same)
		}
	}
	l := New(Config{Failures: 1, Now: newClock().Now})
	fail(t, l, netip.Addr{})
	if e := wantBlocked(t, l, netip.Addr{}, time.Minute); !strings.Contains(e.Error(), "from this address") {
		t.Error(e)
	}
	fail(t, l, netip.MustParseAddr("2001:db8::1"))
	if e := wantBlocked(t, l, netip.MustParseAddr("2001:db8::2"), time.Minute); !strings.Contains(e.Error(), "2001:db8::/64") {
		t.Error(e)
	}
}

func TestBlockedError_Notable_SelectsPowersOfTen(t *testing.T) {
	c := newClock()
	l := New(Config{Failures: 1, Now: c.Now})
	fail(t, l, alice)
	var notable []uint64
	for range 12345 {
		if e := wantBlocked(t, l, alice, time.Minute); e.Notable() {
			notable = append(notable, e.Attempts)
		}
	}
	if fmt.Sprint(notable) != "[1 10 100 1000 10000]" {
		t.Errorf("notable attempts = %v, want the powers of ten", notable)
	}
	// The count restarts at 1 once a source's failures have expired.
	c.advance(time.Minute)
	fail(t, l, alice)
	if e := wantBlocked(t, l, alice, time.Minute); e.Attempts != 1 {
		t.Errorf("Attempts = %d, want 1", e.Attempts)
	}

	// The count does not restart while a source keeps guessing, so few lines are logged.
	l = New(Config{Failures: 4, Window: time.Minute, Now: c.Now})
	for range 4 {
		fail(t, l, alice)
	}
	for want := range uint64(5) {
		if e := wantBlocked(t, l, alice, 15*time.Second); e.Attempts != want+1 {
			t.Errorf("Attempts = %d, want %d", e.Attempts, want+1)
		}
		c.advance(15 * time.Second)
		fail(t, l, alice)
	}
}

func TestFailed_ManySources_DoNotUnblockASource(t *testing.T) {
	l := New(Config{Failures: 3, Sources: 10, Now: newClock().Now})
	for range 3 {
		fail(t, l, alice)
	}
	for i := range 1000 {
		fail(t, l, netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}))
	}
	wantBlocked(t, l, alice, 20*time.Second)
	if len(l.sources) != 10 {
		t.Errorf("got %d sources, want 10", len(l.sources))
	}
}

func TestLimiter_Nil_AdmitsEverything(t *testing.T) {
	var l *Limiter
	fail(t, l, alice)
	l.Succeeded(alice, "right")
	if l.Refused() != 0 || l.Blocked() != 0 {
		t.Error("a nil *Limiter counted refusals or blocks")
	}
}

// For any input from unauthenticated callers, memory is bounded, and a source fails at most twice the limit within a
// window: once in a burst, and once more as its failures expire.
func TestLimiter_AnyInput_BoundsMemoryAndGuesses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		l := New(Config{
			Failures: rapid.IntRange(1, 5).Draw(t, "failures"), Window: time.Minute,
			Sources: rapid.SampledFrom([]int{5, 20, 60}).Draw(t, "sources"), Known: rapid.IntRange(1, 4).Draw(t, "known"), Now: c.Now,
		})
		addresses := make([]netip.Addr, 60) // at least the largest Sources
		for i := range addresses {
			b := [16]byte{0x20, 0x01}
			binary.BigEndian.PutUint32(b[4:], uint32(i))
			addresses[i] = netip.AddrFrom16(b)
		}
		guesser := addresses[0]
		var failures []time.Time // times of the guesser's failures
		steps := rapid.SliceOfN(rapid.IntRange(0, 99), 1, 400).Draw(t, "steps")
		for _, step := range steps {
			switch {
			case step < 60 && step%2 == 0:
				if l.Admit(guesser, "guess") == nil {
					l.Failed(guesser, "guess")
					failures = append(failures, c.now)
				}
			case step < 60:
				from := addresses[step]
				if l.Admit(from, "guess") == nil {
					l.Failed(from, "guess")
				}
			case step < 90:
				l.Succeeded(addresses[step-60], fmt.Sprint("token", step))
			default:
				c.advance(time.Duration(step-89) * 3 * time.Second)
			}
			if len(l.sources) > l.Sources || len(l.sources) != len(l.order) || len(l.known) > l.Known || len(l.older) > l.Known {
				t.Fatalf("got %d sources, %d in the heap, %d known and %d older credentials", len(l.sources), len(l.order), len(l.known), len(l.older))
			}
			for i, s := range l.order {
				if l.sources[s.prefix] != s || s.index != i || s.expires.Sub(c.now) > l.Window {
					t.Fatalf("source %+v at index %d is inconsistent", s, i)
				}
			}
		}
		if l.Sources < len(addresses) {
			return // failures of evicted sources are not limited
		}
		for i := range failures {
			within := 0
			for _, at := range failures[i:] {
				if at.Sub(failures[i]) < l.Window {
					within++
				}
			}
			if within > 2*l.Failures {
				t.Fatalf("got %d failures within a window, want at most %d", within, 2*l.Failures)
			}
		}
	})
}

func TestLimiter_ManyGoroutines_StaysWithinBounds(t *testing.T) {
	l := New(Config{Failures: 3, Sources: 8, Known: 8})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				from := netip.AddrFrom4([4]byte{192, 0, 2, byte(j % 16)})
				credential := fmt.Sprint(i, j%3)
				switch err := l.Admit(from, credential); {
				case err != nil:
				case (i+j)%2 == 0:
					l.Failed(from, credential)
				default:
					l.Succeeded(from, credential)
				}
				_ = l.Blocked() + int(l.Refused())
			}
		})
	}
	wg.Wait()
	if len(l.sources) > 8 || len(l.order) != len(l.sources) {
		t.Errorf("got %d sources and %d in the heap, want the same number, at most 8", len(l.sources), len(l.order))
	}
}

func BenchmarkAdmit(b *testing.B) {
	l := New(Config{})
	l.Failed(bob, "wrong")
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if l.Admit(alice, "token") == nil {
				l.Succeeded(alice, "token")
			}
		}
	})
}
