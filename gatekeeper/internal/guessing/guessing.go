package guessing

import (
	"container/heap"
	"fmt"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Config is how much a source may fail. Zero values are the defaults.
type Config struct {
	// Failures may come from one source within Window. Default 10 within a minute.
	Failures int
	Window   time.Duration
	// Sources is how many are remembered at most. Default 16384.
	Sources int
	// Known is how many right credentials are remembered at least; there may be twice as many. Default 16384.
	Known int
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

const (
	defaultFailures = 10
	defaultWindow   = time.Minute
	defaultSources  = 16 << 10
	defaultKnown    = 16 << 10
)

// Limit is the limit of one server. Its methods may be called from any goroutine; those of the nil Limit do nothing.
type Limit struct {
	Config
	seed maphash.Seed

	mu      sync.Mutex // guards what follows
	sources map[netip.Prefix]*source
	order   order
	// known are right credentials since some time, older those of the time before.
	known, older map[uint64]struct{}
	refused      uint64
}

// source is a source that has failed lately.
type source struct {
	prefix   netip.Prefix
	paid     time.Time // when none of its failures counts any more
	attempts uint64    // refused since it had no failures
	index    int       // in order
}

// New is a Limit on which nothing has failed.
func New(c Config) *Limit {
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
	return &Limit{Config: c, seed: maphash.MakeSeed(), sources: make(map[netip.Prefix]*source), known: make(map[uint64]struct{})}
}

// BlockedError refuses an attempt whose credential was not looked at.
type BlockedError struct {
	Source netip.Prefix
	// Retry is when the next attempt may be let in.
	Retry time.Duration
	// Attempts is how many were refused, this one included, since all failures of the source were paid.
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
	return fmt.Sprintf("too many failed attempts to authenticate from %s; nothing was checked: try again in %v, or with a client certificate",
		source, (e.Retry + time.Second - 1).Truncate(time.Second))
}

// Notable picks the attempts that are worth a line in the audit log: the first, the tenth, the hundredth and so on.
func (e *BlockedError) Notable() bool {
	n := e.Attempts
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// Admit is called before a bearer credential is verified. It returns a *BlockedError when the source has
// failed too often and the credential has not been right from there. Failed or Succeeded follows when it returns nil.
func (l *Limit) Admit(from netip.Addr, credential string) error {
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
	owed := s.paid.Sub(l.Now())
	if owed <= 0 {
		s.attempts = 0
	}
	retry := owed - (l.Window - l.each())
	if retry <= 0 {
		return nil
	}
	if l.knows(l.hash(prefix, credential)) {
		return nil
	}
	s.attempts++
	l.refused++
	return &BlockedError{Source: prefix, Retry: retry, Attempts: s.attempts}
}

// Failed counts a credential that was wrong.
func (l *Limit) Failed(from netip.Addr, credential string) {
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
	for len(l.order) > 0 && !l.order[0].paid.After(now) {
		l.forget()
	}
	s := l.sources[prefix]
	if s == nil {
		if len(l.order) >= l.Sources {
			l.forget()
		}
		s = &source{prefix: prefix, paid: now}
		l.sources[prefix] = s
		heap.Push(&l.order, s)
	}
	s.paid = s.paid.Add(l.each())
	if most := now.Add(l.Window); s.paid.After(most) { // attempts that were checked at the same time
		s.paid = most
	}
	heap.Fix(&l.order, s.index)
}

// Succeeded remembers a credential that was right.
func (l *Limit) Succeeded(from netip.Addr, credential string) {
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

// Refused is how many attempts were refused.
func (l *Limit) Refused() uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// Blocked is how many sources are blocked.
func (l *Limit) Blocked() int {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.Now().Add(l.Window - l.each())
	n := 0
	for _, s := range l.order {
		if s.paid.After(from) {
			n++
		}
	}
	return n
}

// each is how long one failure counts.
func (l *Limit) each() time.Duration { return l.Window / time.Duration(l.Failures) }

// forget forgets the source whose failures end first. The caller holds mu.
func (l *Limit) forget() {
	s := heap.Pop(&l.order).(*source) //nolint:forcetypeassert // it holds nothing else
	delete(l.sources, s.prefix)
}

func (l *Limit) knows(hash uint64) bool {
	_, now := l.known[hash]
	_, before := l.older[hash]
	return now || before
}

func (l *Limit) hash(from netip.Prefix, credential string) uint64 {
	var h maphash.Hash
	h.SetSeed(l.seed)
	address := from.Addr().As16()
	_, _ = h.Write(address[:]) // it has no error
	_, _ = h.WriteString(credential)
	return h.Sum64()
}

// SourceOf is the address of a call, or its /64. All calls without an address are one source.
func SourceOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	prefix, _ := a.Prefix(bits) // the zero prefix of the zero address
	return prefix
}

// order has the source whose failures end first in front.
type order []*source

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].paid.Before(o[j].paid) }
func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].index, o[j].index = i, j
}

func (o *order) Push(x any) {
	s := x.(*source) //nolint:forcetypeassert // it holds nothing else
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
