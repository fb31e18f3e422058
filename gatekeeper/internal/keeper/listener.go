package keeper

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/lessor"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Listener is one stream on which a client keeps permits alive. It takes refreshes and delivers results and notices. A
// Listener is safe for concurrent use.
type Listener struct {
	k      *Keeper
	stream uint64
	ch     chan []TokenResult // has a buffer of one batch; new notices are added to the batch not received yet

	mu     sync.Mutex // guards the fields below and sending to ch
	closed bool
	tokens map[uint64]struct{}
}

// Listen opens a stream. The caller must close it.
func (k *Keeper) Listen() *Listener {
	l := &Listener{
		k: k, stream: k.streams.Add(1),
		ch:     make(chan []TokenResult, 1),
		tokens: make(map[uint64]struct{}),
	}
	k.notices.open(l)
	if k.tenure.Load() == nil {
		l.end() // it may have missed the end of leadership
	}
	return l
}

// Notices carries unsolicited messages from the server: tokens whose holders must stop, and tokens that are lost. It is
// closed when leadership ends, and when the Listener is closed.
func (l *Listener) Notices() <-chan []TokenResult { return l.ch }

// Frame is a frame of refreshes on a stream. After Receive, the caller must promptly call Refresh or Drop, because no
// permit on this server expires until then. After Refresh, Results returns the outcome. Only Drop may be called
// concurrently with other methods.
type Frame struct {
	listener   *Listener
	received   time.Time
	processed  func() // lets permits expire again
	visible    visibleTokens
	renewal    *renewal
	err        error // returned by Results
	panicValue any   // recovered from a panic; Results panics with it
}

// Receive records that a frame has arrived. Call it before any other work on the frame, because permits are extended
// from this time.
func (l *Listener) Receive() *Frame {
	return &Frame{listener: l, received: time.Now(), processed: l.k.lessor.Receive()}
}

// Drop discards a frame for which Refresh will not be called. After Refresh it does nothing.
func (f *Frame) Drop() { f.processed() }

// Refresh is like Keeper.Refresh, but for one frame on the stream, and without waiting for the results. The deadlines
// are extended before it returns. It calls ready once, when Results may be called, on any goroutine and possibly before
// Refresh returns. ready must not block. ctx limits only the wait until longer durations are committed. After Refresh,
// the stream gets a notice when the holder of one of these tokens must stop, and when a token is lost.
func (f *Frame) Refresh(ctx context.Context, owner semaphore.Owner, tokens []TokenRefresh, ready func()) {
	l, k := f.listener, f.listener.k
	if f.visible, f.err = k.visible(owner, tokens); f.err != nil {
		f.processed()
		ready()
		return
	}
	l.follow(f.visible.tokens) // first, so that no notice between this call and the response is missed
	f.renewal, f.err = k.renew(lessor.Frame{Received: f.received, Stream: l.stream, Owner: owner}, f.visible, f.processed)
	t := f.visible.tenure // only a server that still leads can say for certain that a token is unknown
	if f.renewal != nil {
		t = f.renewal.tenure
	}
	if f.err != nil || t == nil || len(tokens) == 0 {
		ready()
		return
	}
	confirm := func() {
		k.cfg.Leadership.ConfirmLater(t.term, f.received, func(err error) {
			f.err = k.confirmed(t, err)
			ready()
		})
	}
	if f.renewal == nil || !needsLengthening(f.renewal.before) {
		confirm()
		return
	}
	go func() { // lengthen takes up to a tenth of the duration
		defer func() {
			if panicValue := recover(); panicValue != nil {
				f.panicValue = panicValue
				ready()
			}
		}()
		k.lengthen(ctx, f.renewal.before)
		confirm()
	}()
}

// Results computes the results of Refresh. Call it once, on the goroutine that sends them, because a frame may hold
// thousands of tokens. After an error, the outcome is unknown for all of them. If Refresh panicked on another
// goroutine, Results panics.
func (f *Frame) Results() ([]TokenResult, error) {
	if f.panicValue != nil {
		panic(f.panicValue)
	}
	switch {
	case f.err != nil:
		return nil, f.err
	case f.renewal == nil:
		return f.visible.merge(nil), nil
	}
	results, err := f.renewal.results()
	if err == nil {
		results = f.visible.merge(results)
	}
	for i := range results {
		if results[i].Status == StatusLost {
			f.listener.Forget(results[i].Token)
		}
	}
	return results, err
}

func (l *Listener) follow(tokens []TokenRefresh) {
	var fresh []uint64
	l.mu.Lock()
	for _, t := range tokens {
		if _, ok := l.tokens[t.Token]; !ok && !l.closed {
			l.tokens[t.Token] = struct{}{}
			fresh = append(fresh, t.Token)
		}
	}
	l.mu.Unlock()
	if len(fresh) == 0 {
		return // true for nearly every frame
	}
	l.k.notices.follow(l, fresh)
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed { // Close may have run just before the tokens were followed
		l.k.notices.forget(l, fresh)
	}
}

// Forget stops the notices for these tokens.
func (l *Listener) Forget(tokens ...uint64) {
	l.mu.Lock()
	for _, t := range tokens {
		delete(l.tokens, t)
	}
	l.mu.Unlock()
	l.k.notices.forget(l, tokens)
}

// Close ends the stream.
func (l *Listener) Close() {
	l.end()
	l.mu.Lock()
	tokens := make([]uint64, 0, len(l.tokens))
	for t := range l.tokens {
		tokens = append(tokens, t)
	}
	l.tokens = nil
	l.mu.Unlock()
	l.k.notices.forget(l, tokens)
	l.k.notices.close(l)
}

func (l *Listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.ch)
	}
}

// maxNotices is the largest number of notices kept for a client that does not read: the number of tokens that two
// frames can refresh.
const maxNotices = 20_000

// push adds a notice. It never blocks: under the lock, it takes the unreceived notices back out of the channel and
// resends them with the new one appended. If a client leaves too many unread, push ends its stream. When the client
// refreshes on a new stream, the results show what it has missed.
func (l *Listener) push(n TokenResult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	var batch []TokenResult
	select {
	case batch = <-l.ch:
	default:
	}
	l.ch <- append(batch, n)
	if len(batch) >= maxNotices {
		l.closed = true
		close(l.ch)
	}
}

// drop removes a lost token.
func (l *Listener) drop(token uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tokens, token)
}

// notices maps tokens to the streams that follow them.
type notices struct {
	mu        sync.Mutex // guards the fields below
	followers map[uint64][]*Listener
	listeners map[*Listener]struct{}
}

func (n *notices) open(l *Listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = make(map[*Listener]struct{})
		n.followers = make(map[uint64][]*Listener)
	}
	n.listeners[l] = struct{}{}
}

func (n *notices) close(l *Listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.listeners, l)
}

// closeAll ends every stream, because leadership has ended.
func (n *notices) closeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l := range n.listeners {
		l.end()
	}
}

func (n *notices) follow(l *Listener, tokens []uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range tokens {
		n.followers[t] = append(n.followers[t], l)
	}
}

func (n *notices) forget(l *Listener, tokens []uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range tokens {
		others := n.followers[t][:0]
		for _, f := range n.followers[t] {
			if f != l {
				others = append(others, f)
			}
		}
		if len(others) == 0 {
			delete(n.followers, t)
		} else {
			n.followers[t] = others
		}
	}
}

func (n *notices) any() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.followers) > 0
}

func (n *notices) tokens() []uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	tokens := make([]uint64, 0, len(n.followers))
	for t := range n.followers {
		tokens = append(tokens, t)
	}
	return tokens
}

func (n *notices) push(r TokenResult) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.followers[r.Token] {
		l.push(r)
	}
}

// superseded notifies the followers of a permit's old token.
func (n *notices) superseded(old, current *semaphore.Permit) {
	n.lost(old, TokenResult{SupersededBy: current.Token, Message: supersededText(current)})
}

func supersededText(current *semaphore.Permit) string {
	return fmt.Sprintf("its identity has reacquired the permit and now holds it under token %d", current.Token)
}

// lost notifies the followers of a permit that its token is no longer valid, and forgets them: a token never becomes
// valid again.
func (n *notices) lost(p *semaphore.Permit, r TokenResult) {
	r.Token, r.Status = p.Token, StatusLost
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.followers[p.Token] {
		l.push(r)
		l.drop(p.Token)
	}
	delete(n.followers, p.Token)
}

// stopping notifies the followers of a permit that its holder must stop. Refreshes still succeed until the drain ends.
func (n *notices) stopping(p *semaphore.Permit, cause semaphore.StopCause, why string, drainLeft time.Duration) {
	n.push(TokenResult{Token: p.Token, Status: StatusStopping, Stop: cause, Message: why, DrainLeft: drainLeft})
}
