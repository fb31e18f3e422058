package fsm

import (
	"strings"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// This file defines the sort orders of the trees.

func holderBefore(a, b *semaphore.Permit) bool {
	if c := strings.Compare(a.Semaphore, b.Semaphore); c != 0 {
		return c < 0
	}
	return a.Token < b.Token
}

func identityBefore(a, b *semaphore.Permit) bool {
	if c := strings.Compare(a.Semaphore, b.Semaphore); c != 0 {
		return c < 0
	}
	return compareIdentity(a.Identity, b.Identity) < 0
}

// compareIdentity compares the holder id first because it differs most often.
func compareIdentity(a, b semaphore.Identity) int {
	if c := strings.Compare(a.HolderID, b.HolderID); c != 0 {
		return c
	}
	if c := strings.Compare(a.Acquirer, b.Acquirer); c != 0 {
		return c
	}
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	return strings.Compare(a.Principal, b.Principal)
}

func claimBefore(a, b *semaphore.Claim) bool {
	if c := strings.Compare(a.Semaphore, b.Semaphore); c != 0 {
		return c < 0
	}
	// Firings without a due time come first: the zero time is before every due time.
	if c := a.Firing.Due.Compare(b.Firing.Due); c != 0 {
		return c < 0
	}
	return a.Firing.Name < b.Firing.Name
}

// A requestKey starts with a hash, so that a comparison rarely follows the pointer. The resulting order is not visible
// elsewhere, because requests are written and forgotten in order of age.
type requestKey struct {
	hash    uint64
	request *Remembered
}

func keyOfRequest(r *Remembered) requestKey {
	return requestKey{hash: hashText(fnvOffset, r.RequestID), request: r}
}

func requestBefore(a, b requestKey) bool {
	if a.hash != b.hash {
		return a.hash < b.hash
	}
	if c := strings.Compare(a.request.RequestID, b.request.RequestID); c != 0 {
		return c < 0
	}
	if c := strings.Compare(a.request.Semaphore, b.request.Semaphore); c != 0 {
		return c < 0
	}
	return compareIdentity(a.request.Identity, b.request.Identity) < 0
}

func journalBefore(a, b *JournalEntry) bool {
	if a.Revision != b.Revision {
		return a.Revision < b.Revision
	}
	return a.Ordinal < b.Ordinal
}

func sightingBefore(a, b Sighting) bool {
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c < 0
	}
	return a.Acquirer < b.Acquirer
}

// sightingOlder sorts sightings in the order in which they are forgotten.
func sightingOlder(a, b Sighting) bool {
	if c := a.At.Compare(b.At); c != 0 {
		return c < 0
	}
	return sightingBefore(a, b)
}

const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)

// hashText continues a 64-bit FNV-1a hash. It is slow for long strings, but request ids and firing names are short.
func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}
