package keeper

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxPatterns bounds how many compiled patterns are kept; many definitions share a few.
const maxPatterns = 16_384

// matcher matches callers against the patterns of definitions and cordons. Patterns are compiled once and kept by their
// text. Only the leader matches, so that servers may differ in their version of the pattern engine.
type matcher struct {
	mu       sync.RWMutex // guards compiled
	compiled map[string]compiledPattern
	cordons  atomic.Pointer[cordonSet]
}

type compiledPattern struct {
	pattern *semaphore.Pattern
	err     error
}

// cordonSet is the compiled cordons of one cordon revision.
type cordonSet struct {
	revision          uint64
	groups, acquirers []*semaphore.Pattern
}

func newMatcher() *matcher { return &matcher{compiled: make(map[string]compiledPattern)} }

// admission says what the patterns in force say of a caller. Without a definition it admits nobody.
func (m *matcher) admission(state *fsm.State, sd *fsm.StoredDefinition, id semaphore.Identity) semaphore.Admission {
	if sd == nil {
		return semaphore.Admission{}
	}
	return semaphore.Admission{
		Group:    m.matches("group_pattern", sd.Definition.GroupPattern, id.Group),
		Acquirer: m.matches("acquirer_pattern", sd.Definition.AcquirerPattern, id.Acquirer),
		Cordoned: m.cordoned(state, id),
	}
}

func (m *matcher) matches(field, pattern, s string) bool {
	c := m.compile(field, pattern)
	return c.err == nil && c.pattern.Match(s)
}

func (m *matcher) compile(field, pattern string) compiledPattern {
	m.mu.RLock()
	c, ok := m.compiled[pattern]
	m.mu.RUnlock()
	if ok {
		return c
	}
	c.pattern, c.err = semaphore.CompilePattern(field, pattern)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.compiled) >= maxPatterns {
		clear(m.compiled) // rare, and cheaper than keeping an order of use
	}
	m.compiled[pattern] = c
	return c
}

func (m *matcher) cordoned(state *fsm.State, id semaphore.Identity) bool {
	set := m.cordons.Load()
	if set == nil || set.revision != state.CordonRevision() {
		set = m.compileCordons(state)
		m.cordons.Store(set)
	}
	for _, p := range set.groups {
		if p.Match(id.Group) {
			return true
		}
	}
	for _, p := range set.acquirers {
		if p.Match(id.Acquirer) {
			return true
		}
	}
	return false
}

func (m *matcher) compileCordons(state *fsm.State) *cordonSet {
	set := &cordonSet{revision: state.CordonRevision()}
	for _, c := range state.Cordons() {
		if p := m.compile("group_pattern", c.GroupPattern); c.GroupPattern != "" && p.err == nil {
			set.groups = append(set.groups, p.pattern)
		}
		if p := m.compile("acquirer_pattern", c.AcquirerPattern); c.AcquirerPattern != "" && p.err == nil {
			set.acquirers = append(set.acquirers, p.pattern)
		}
	}
	return set
}

// Disabled says why a stored definition admits nobody here: one of its patterns cannot be compiled by this server. Else
// it returns the empty string.
func (k *Keeper) Disabled(sd *fsm.StoredDefinition) string {
	for field, pattern := range map[string]string{
		"group_pattern":    sd.Definition.GroupPattern,
		"acquirer_pattern": sd.Definition.AcquirerPattern,
	} {
		if c := k.patterns.compile(field, pattern); c.err != nil {
			return fmt.Sprintf("this server cannot use it: %v", c.err)
		}
	}
	return ""
}
