package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// heldTokens holds the tokens of bare clients' permits, for operators that revoke them or take them over.
type heldTokens struct {
	mu     sync.Mutex // guards tokens
	tokens map[string]map[uint64]bool
	recent []uint64 // the most recently removed tokens
}

func (h *heldTokens) add(semaphore string, token uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tokens == nil {
		h.tokens = map[string]map[uint64]bool{}
	}
	if h.tokens[semaphore] == nil {
		h.tokens[semaphore] = map[uint64]bool{}
	}
	h.tokens[semaphore][token] = true
}

func (h *heldTokens) remove(semaphore string, token uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tokens[semaphore], token)
	h.recent = append(h.recent, token)
	h.recent = h.recent[max(0, len(h.recent)-20):]
}

// recentToken returns a token, of any semaphore, that was held until recently.
func (h *heldTokens) recentToken(random *rand.Rand) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.recent) == 0 {
		return 0, false
	}
	return h.recent[random.IntN(len(h.recent))], true
}

// awaitToken returns a held token, or briefly waits for the next one. Most tokens are held for only a few milliseconds,
// so occasional polling would rarely find one.
func (h *heldTokens) awaitToken(ctx context.Context, semaphore string, random *rand.Rand) (token uint64, ok bool) {
	for range 100 {
		if token, ok = h.randomToken(semaphore, random); ok || ctx.Err() != nil {
			break
		}
		pause(ctx, 2*time.Millisecond)
	}
	return token, ok
}

// randomToken returns a random token of a semaphore.
func (h *heldTokens) randomToken(semaphore string, random *rand.Rand) (uint64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.tokens[semaphore])
	if n == 0 {
		return 0, false
	}
	pick := random.IntN(n)
	for token := range h.tokens[semaphore] {
		if pick == 0 {
			return token, true
		}
		pick--
	}
	return 0, false
}
