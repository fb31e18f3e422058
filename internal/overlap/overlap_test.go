package overlap

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func belief(sem string, token uint64, weight uint32, from, until time.Duration) Belief {
	return Belief{Semaphore: sem, Token: token, Weight: weight, From: from, Until: until}
}

func TestFind(t *testing.T) {
	permits := map[string]uint32{"one": 1, "three": 3}
	for _, test := range []struct {
		name    string
		beliefs []Belief
		want    []Overlap // compared by Semaphore, From, Until, Permits and Believed
	}{
		{"NoBelief_NoOverlap", nil, nil},
		{"OneAfterAnother_NoOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 20, 30)}, nil},
		{"EndIsExclusive_NoOverlap", []Belief{belief("one", 2, 1, 10, 20), belief("one", 1, 1, 0, 10)}, nil},
		{"TwoAtOnce_OneOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 8, 20)}, []Overlap{{Semaphore: "one", From: 8, Until: 10, Permits: 1, Believed: 2}}},
		{"OneWithinAnother_OneOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 3, 4)}, []Overlap{{Semaphore: "one", From: 3, Until: 4, Permits: 1, Believed: 2}}},
		{"SamePeriod_OneOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 0, 10)}, []Overlap{{Semaphore: "one", From: 0, Until: 10, Permits: 1, Believed: 2}}},
		{"TwoPeriods_TwoOverlaps", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 2, 3), belief("one", 3, 1, 5, 6)},
			[]Overlap{{Semaphore: "one", From: 2, Until: 3, Permits: 1, Believed: 2}, {Semaphore: "one", From: 5, Until: 6, Permits: 1, Believed: 2}}},
		{"HandoverWithinPeriod_OneOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 2, 5), belief("one", 3, 1, 5, 8)},
			[]Overlap{{Semaphore: "one", From: 2, Until: 8, Permits: 1, Believed: 2}}},
		{"WeightsThatFit_NoOverlap", []Belief{belief("three", 1, 1, 0, 10), belief("three", 2, 2, 0, 10)}, nil},
		{"WeightsExceedPermits_OneOverlap", []Belief{belief("three", 1, 2, 0, 10), belief("three", 2, 2, 9, 12)}, []Overlap{{Semaphore: "three", From: 9, Until: 10, Permits: 3, Believed: 4}}},
		{"DifferentSemaphores_NoOverlap", []Belief{belief("one", 1, 1, 0, 10), belief("three", 2, 3, 0, 10)}, nil},
		{"EmptyBelief_IsIgnored", []Belief{belief("one", 1, 1, 0, 10), belief("one", 2, 1, 5, 5), belief("one", 3, 1, 6, 2)}, nil},
		{"UnknownSemaphore_HasNoPermits", []Belief{belief("two", 1, 1, 0, 10)}, []Overlap{{Semaphore: "two", From: 0, Until: 10, Permits: 0, Believed: 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Find(test.beliefs, permits)
			if len(got) != len(test.want) {
				t.Fatalf("Find() = %v, want %v", got, test.want)
			}
			for i, o := range got {
				w := test.want[i]
				if o.Semaphore != w.Semaphore || o.From != w.From || o.Until != w.Until || o.Permits != w.Permits || o.Believed != w.Believed {
					t.Errorf("Find() = %v, want %+v", o, w)
				}
			}
		})
	}
}

// TestFind_MatchesBruteForce compares the sweep with a count at every instant.
func TestFind_MatchesBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		permits := uint32(rapid.IntRange(0, 4).Draw(t, "permits"))
		var beliefs []Belief
		for i := range rapid.IntRange(0, 8).Draw(t, "beliefs") {
			from := time.Duration(rapid.IntRange(0, 12).Draw(t, "from"))
			length := time.Duration(rapid.IntRange(-1, 6).Draw(t, "length"))
			weight := uint32(rapid.IntRange(1, 3).Draw(t, "weight"))
			beliefs = append(beliefs, belief("s", uint64(i+1), weight, from, from+length))
		}
		found := Find(beliefs, map[string]uint32{"s": permits})
		for at := time.Duration(-1); at < 20; at++ {
			var sum uint64
			for _, b := range beliefs {
				if b.From <= at && at < b.Until {
					sum += uint64(b.Weight)
				}
			}
			var seen bool
			for _, o := range found {
				seen = seen || o.From <= at && at < o.Until
			}
			if want := sum > uint64(permits); seen != want {
				t.Fatalf("at %d, weight %d of %d: Find() = %v, want %v", at, sum, permits, seen, want)
			}
		}
	})
}

func TestDecreasingTokens_OnlyForSemaphoresWithOnePermit(t *testing.T) {
	beliefs := []Belief{
		belief("one", 5, 1, 0, 10), belief("one", 7, 1, 20, 30), belief("one", 6, 1, 40, 50), belief("one", 1, 1, 60, 55),
		belief("three", 9, 1, 0, 10), belief("three", 8, 1, 5, 10),
	}
	got := DecreasingTokens(beliefs, map[string]uint32{"one": 1, "three": 3})
	if len(got) != 1 || got[0].Token != 6 {
		t.Errorf("DecreasingTokens() = %v, want the belief with token 6", got)
	}
}
