package guessing

import (
	"container/heap"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Config limits a source's failures. Zero values select the defaults.
type Config struct {
	// Failures is how many times one source may fail within Window. Default 10 within a minute.
	Failures int
	Window   time.Duration
	// Sources limits the number of remembered sources. Default 16384.
	Sources int
	// Known is the minimum number of valid credentials to remember. Up to twice as many may be remembered. Default
	// 16384.
	Known int
	// Now returns the current time. Default time.Now.
	Now func() time.Time
}

const (
	defaultFailures = 10
	defaultWindow   = time.Minute
	defaultSources  = 16 << 10
	defaultKnown    = 16 << 10
)

// Limiter limits the failed authentications at one server. It is safe for concurrent use. A nil *Limiter limits
// nothing.
type Limiter struct {
	Config
	seed maphash.Seed

	mu      sync.Mutex // guards the fields below
	sources map[netip.Prefix]*source
	order   order
	// known and older are two generations of valid credentials. When known is full, it becomes older.
	known, older map[uint64]struct{}
	refused      uint64
}

// source is an address with recent failures.
type source struct {
	prefix   netip.Prefix
	expires  time.Time // when the last of its failures expires
	attempts uint64    // refused attempts since it last had no failures
	index    int       // in order
}

// New returns a Limiter with no failures recorded.
func New(c Config) *Limiter {
	if c.Failures <= 0 {
		c.Failures = defaultFailures
	}
	if c.Window <= 0 {
		c.Window = defaultWindow
	}
	if c.Sources <= 0 {
		c.Sources = defaultSources
	}
	if c.Known <= 0 {
		c.Known = defaultKnown
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Limiter{Config: c, seed: maphash.MakeSeed(), sources: make(map[netip.Prefix]*source), known: make(map[uint64]struct{})}
}

// BlockedError is returned for an attempt that is refused before its credential is verified.
type BlockedError struct {
	Source netip.Prefix
	// Retry is how long to wait before the next attempt.
	Retry time.Duration
	// Attempts is the number of refused attempts, including this one, since the source last had no failures.
	Attempts uint64
}

func (e *BlockedError) Error() string {
	source := "this address"
	switch {
	case e.Source.IsSingleIP():
		source = e.Source.Addr().String()
	case e.Source.IsValid():
		source = e.Source.String()
	}
	return fmt.Sprintf("too many failed authentication attempts from %s; this one was not checked: try again in %v, or use a client certificate",
		source, (e.Retry + time.Second - 1).Truncate(time.Second))
}

// Notable reports whether the attempt should be recorded in the audit log: the first, the tenth, the hundredth and so
// on.
func (e *BlockedError) Notable() bool {
	n := e.Attempts
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// Admit must be called before a bearer credential is verified. It returns a *BlockedError if the source has failed too
// often and this credential has never been valid from there. If it returns nil, the caller must call Failed or
// Succeeded.
func (l *Limiter) Admit(from netip.Addr, credential string) error {
	if l == nil {
		return nil
	}
	prefix := SourceOf(from)
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sources[prefix]
	if s == nil {
		return nil
	}
	remaining := s.expires.Sub(l.Now())
	if remaining <= 0 {
		s.attempts = 0
	}
	retry := remaining - (l.Window - l.interval())
	if retry <= 0 {
		return nil
	}
	if l.isKnown(l.hash(prefix, credential)) {
		return nil
	}
	s.attempts++
	l.refused++
	return &BlockedError{Source: prefix, Retry: retry, Attempts: s.attempts}
}

// Failed counts a failure and forgets the credential, which is invalid.
func (l *Limiter) Failed(from netip.Addr, credential string) {
	if l == nil {
		return
	}
	prefix := SourceOf(from)
	now := l.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := l.hash(prefix, credential)
	delete(l.known, hash)
	delete(l.older, hash)
	for len(l.order) > 0 && !l.order[0].expires.After(now) {
		l.forget()
	}
	s := l.sources[prefix]
	if s == nil {
		if len(l.order) >= l.Sources {
			l.forget()
		}
		s = &source{prefix: prefix, expires: now}
		l.sources[prefix] = s
		heap.Push(&l.order, s)
	}
	s.expires = s.expires.Add(l.interval())
	if latest := now.Add(l.Window); s.expires.After(latest) { // attempts that were checked concurrently
		s.expires = latest
	}
	heap.Fix(&l.order, s.index)
}

// Succeeded remembers a valid credential.
func (l *Limiter) Succeeded(from netip.Addr, credential string) {
	if l == nil {
		return
	}
	hash := l.hash(SourceOf(from), credential)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[hash]; ok {
		return
	}
	if len(l.known) >= l.Known {
		l.known, l.older = make(map[uint64]struct{}, l.Known), l.known
	}
	l.known[hash] = struct{}{}
}

// Refused returns the number of refused attempts.
func (l *Limiter) Refused() uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// Blocked returns the number of blocked sources.
func (l *Limiter) Blocked() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.Now().Add(l.Window - l.interval())
	n := 0
	for _, s := range l.order {
		if s.expires.After(from) {
			n++
		}
	}
	return n
}

// interval returns how long one failure counts.
func (l *Limiter) interval() time.Duration { return l.Window / time.Duration(l.Failures) }

// forget drops the source whose failures expire first. The caller must hold mu.
func (l *Limiter) forget() {
	s := heap.Pop(&l.order).(*source) //nolint:forcetypeassert // order holds only *source
	delete(l.sources, s.prefix)
}

func (l *Limiter) isKnown(hash uint64) bool {
	_, now := l.known[hash]
	_, before := l.older[hash]
	return now || before
}

func (l *Limiter) hash(from netip.Prefix, credential string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	address := from.Addr().As16()
	_, _ = h.Write(address[:]) // never returns an error
	_, _ = h.WriteString(credential)
	return h.Sum64()
}

// SourceOf returns the source for a caller's address: an IPv4 address, or the /64 of an IPv6 address. All callers
// without an address share one source.
func SourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	prefix, _ := a.Prefix(bits) // the zero Prefix for the zero Addr
	return prefix
}

// order is a heap with the source whose failures expire first at the front.
type order []*source

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].expires.Before(o[j].expires) }
func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].index, o[j].index = i, j
}

func (o *order) Push(x any) {
	s := x.(*source) //nolint:forcetypeassert // order holds only *source
	s.index = len(*o)
	*o = append(*o, s)
}

func (o *order) Pop() any {
	last := len(*o) - 1
	s := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return s
}
