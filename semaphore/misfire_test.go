package semaphore

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// In every case, the host was down overnight and starts at 05:30.
func TestMissed_AppliesPolicyWindowAndClaims(t *testing.T) {
	hour := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	now := hour(5).Add(30 * time.Minute)
	claims := func(states map[int]ClaimState) func(Firing) *Claim {
		return func(f Firing) *Claim {
			if s, ok := states[f.Due.Hour()]; ok && f.Name == "n" {
				return &Claim{Firing: f, State: s, Attempts: 1}
			}
			return nil
		}
	}
	each := func(d *Definition) { d.Misfire, d.MisfireWindow = MisfireEach, 4*time.Hour }
	once := func(d *Definition) { d.Misfire, d.MisfireWindow = MisfireOnce, 4*time.Hour }
	for name, c := range map[string]struct {
		policy         func(*Definition)
		from, lowWater time.Time
		states         map[int]ClaimState
		want           []int
	}{
		"skip":                                {policy: func(d *Definition) { d.MisfireWindow = 4 * time.Hour }},
		"each: due within the window":         {policy: each, want: []int{2, 3, 4, 5}},
		"each: the default window is an hour": {policy: func(d *Definition) { d.Misfire = MisfireEach }, want: []int{5}},
		"each: except firings that ran":       {policy: each, states: map[int]ClaimState{2: ClaimDone, 4: ClaimFailed}, want: []int{3, 5}},
		"each: except firings that are running or were cut short": {policy: each, states: map[int]ClaimState{2: ClaimHeld, 3: ClaimSpent, 4: ClaimCutShort}, want: []int{5}},
		"each: including claims that are open again":              {policy: each, states: map[int]ClaimState{2: ClaimDone, 3: ClaimDone, 4: ClaimOpen, 5: ClaimDone}, want: []int{4}},
		"each: except firings without attempts left": {
			policy: func(d *Definition) { each(d); d.MaxAttempts = 1 }, states: map[int]ClaimState{2: ClaimDone, 3: ClaimDone, 4: ClaimOpen, 5: ClaimDone}},
		"each: except forgotten firings":          {policy: each, lowWater: hour(3), want: []int{4, 5}},
		"each: due since the policy was set":      {policy: each, from: hour(4).Add(time.Minute), want: []int{5}},
		"once":                                    {policy: once, want: []int{5}},
		"once: the last firing ran":               {policy: once, states: map[int]ClaimState{5: ClaimDone}},
		"once: the last firing is running":        {policy: once, states: map[int]ClaimState{5: ClaimHeld}},
		"once: due before the policy was set":     {policy: once, from: hour(5)},
		"once: an earlier firing ran":             {policy: once, states: map[int]ClaimState{3: ClaimDone}, want: []int{5}},
		"once: the last claim is open again":      {policy: once, states: map[int]ClaimState{5: ClaimOpen}, want: []int{5}},
		"once: no attempts are left":              {policy: func(d *Definition) { once(d); d.MaxAttempts = 1 }, states: map[int]ClaimState{5: ClaimOpen}},
		"once: only older firings are remembered": {policy: once, states: map[int]ClaimState{2: ClaimDone, 3: ClaimDone}, want: []int{5}},
	} {
		t.Run(name, func(t *testing.T) {
			d := new(Definition)
			c.policy(d)
			m := Misfires{Definition: d, From: c.from, LowWater: c.lowWater, Now: now, Claim: claims(c.states)}
			var due, want []time.Time
			for h := range 8 { // includes due times in the future
				due = append(due, hour(h))
			}
			for _, h := range c.want {
				want = append(want, hour(h))
			}
			if got := m.Missed("n", due); !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("Missed() = %v, want %v", got, want)
			}
		})
	}
	if m := (Misfires{Now: now}); m.Missed("n", []time.Time{hour(5)}) != nil {
		t.Error("Missed() without a definition is not nil")
	}
}

// Missed returns firings in order of due time, and each of them would be granted. Once all of them are claimed, Missed
// returns nothing.
func TestMissed_RandomClaims_ReturnsOnlyClaimableFirings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(label string) time.Time {
			return time.Unix(int64(rapid.IntRange(0, 100).Draw(t, label)), 0)
		}
		d := &Definition{
			Misfire:       rapid.SampledFrom([]Misfire{MisfireSkip, MisfireOnce, MisfireEach}).Draw(t, "misfire"),
			MisfireWindow: time.Duration(rapid.IntRange(1, 100).Draw(t, "window")) * time.Second,
			MaxAttempts:   rapid.Uint32Range(0, 2).Draw(t, "max attempts"),
		}
		states := rapid.MapOf(rapid.Int64Range(0, 100), rapid.SampledFrom([]ClaimState{ClaimHeld, ClaimDone, ClaimSpent, ClaimFailed, ClaimCutShort, ClaimOpen})).
			Draw(t, "claims")
		m := Misfires{
			Definition: d, From: at("from"), LowWater: at("low water"), Now: at("now"),
			Claim: func(f Firing) *Claim {
				if s, ok := states[f.Due.Unix()]; ok {
					return &Claim{Firing: f, State: s, Attempts: 1}
				}
				return nil
			},
		}
		var due []time.Time
		for _, s := range rapid.SliceOfDistinct(rapid.Int64Range(0, 100), rapid.ID[int64]).Draw(t, "due") {
			due = append(due, time.Unix(s, 0))
		}
		slices.SortFunc(due, time.Time.Compare)
		run := m.Missed("n", due)
		if !slices.IsSortedFunc(run, time.Time.Compare) {
			t.Fatalf("Missed() is not sorted: %v", run)
		}
		if limit := map[Misfire]int{MisfireSkip: 0, MisfireOnce: 1, MisfireEach: len(due)}[d.Misfire]; len(run) > limit {
			t.Fatalf("%s: Missed() = %v, want at most %d firings", d.Misfire, run, limit)
		}
		for _, at := range run {
			f := &Firing{Name: "n", Due: at}
			if at.After(m.Now) || !at.After(m.From) || m.Now.Sub(at) >= d.MisfireWindow || f.Forgotten(m.LowWater) {
				t.Fatalf("Missed() contains %s, which is out of range", at)
			}
			if got := decideFiring(f, &Facts{Definition: d, Claim: m.Claim(*f), LowWater: m.LowWater, LeaderClock: m.Now}); got.Outcome == Denied {
				t.Fatalf("Missed() contains %s, which would be denied: %v", at, got.Reason)
			}
			states[at.Unix()] = ClaimHeld
		}
		if again := m.Missed("n", due); len(again) > 0 {
			t.Fatalf("Missed() = %v after all of its firings were claimed, want none", again)
		}
	})
}
