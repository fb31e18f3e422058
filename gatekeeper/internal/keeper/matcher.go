package keeper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxPatterns is the largest number of compiled patterns kept. Many definitions share a few patterns.
const maxPatterns = 16_384

// matcher matches callers against the patterns in definitions and cordons. It compiles each pattern once and caches it
// by its text. Only the leader matches patterns, so servers may run different versions of the pattern engine.
type matcher struct {
	mu       sync.RWMutex // guards compiled
	compiled map[string]compiledPattern
	cordons  atomic.Pointer[cordonSet]
}

type compiledPattern struct {
	pattern *semaphore.Pattern
	err     error
}

// cordonSet holds the compiled cordons as of one cordon revision.
type cordonSet struct {
	revision uint64
	cordons  []compiledCordon
}

// compiledCordon is a cordon with its compiled patterns. A pattern that the cordon does not set is nil.
type compiledCordon struct {
	semaphore.Cordon
	group, acquirer *semaphore.Pattern
	// broken is why this server cannot compile one of the cordon's patterns. The cordon then applies to every caller,
	// because it is unknown which callers it was meant for, and it would be unsafe to let one of them run.
	broken error
}

func (c *compiledCordon) appliesTo(id semaphore.Identity) bool {
	return c.broken != nil || c.group.Match(id.Group) || c.acquirer.Match(id.Acquirer)
}

func newMatcher() *matcher { return &matcher{compiled: make(map[string]compiledPattern)} }

// admission matches a caller against the patterns in force. Without a definition, the patterns admit no one.
func (m *matcher) admission(state *fsm.State, sd *fsm.StoredDefinition, id semaphore.Identity) semaphore.Admission {
	var a semaphore.Admission
	if sd != nil {
		a.Group = m.matches("group_pattern", sd.Definition.GroupPattern, id.Group)
		a.Acquirer = m.matches("acquirer_pattern", sd.Definition.AcquirerPattern, id.Acquirer)
	}
	a.Cordons = m.applicable(state, id)
	return a
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
		clear(m.compiled) // rare, and cheaper than LRU eviction
	}
	m.compiled[pattern] = c
	return c
}

// applicable returns the cordons that apply to a caller, ordered by id.
func (m *matcher) applicable(state *fsm.State, id semaphore.Identity) (cordons []semaphore.Cordon) {
	set := m.cordons.Load()
	if set == nil || set.revision != state.CordonRevision() {
		set = m.compileCordons(state)
		m.cordons.Store(set)
	}
	for i := range set.cordons {
		if c := &set.cordons[i]; c.appliesTo(id) {
			cordons = append(cordons, c.Cordon)
		}
	}
	return cordons
}

func (m *matcher) compileCordons(state *fsm.State) *cordonSet {
	set := &cordonSet{revision: state.CordonRevision()}
	for _, c := range state.Cordons() {
		set.cordons = append(set.cordons, m.compileCordon(c))
	}
	return set
}

func (m *matcher) compileCordon(c *fsm.Cordon) (compiled compiledCordon) {
	compiled.Cordon = semaphore.Cordon{ID: c.ID, Drain: semaphore.Drain{Revision: c.Revision, Duration: c.Drain}}
	if c.GroupPattern != "" {
		p := m.compile("group_pattern", c.GroupPattern)
		compiled.group, compiled.broken = p.pattern, p.err
	}
	if c.AcquirerPattern != "" {
		p := m.compile("acquirer_pattern", c.AcquirerPattern)
		compiled.acquirer, compiled.broken = p.pattern, cmp.Or(compiled.broken, p.err)
	}
	return compiled
}

// describeCordons describes which cordons apply to a caller, and until when. It returns an empty string if there are
// none.
func (m *matcher) describeCordons(state *fsm.State, id semaphore.Identity) string {
	var sentences []string
	for _, applicable := range m.applicable(state, id) {
		c := state.Cordon(applicable.ID)
		s := fmt.Sprintf("Cordon %q applies to it", c.ID)
		if broken := m.compileCordon(c).broken; broken != nil {
			s = fmt.Sprintf("Cordon %q applies to everyone, because this server cannot use its pattern (%v)", c.ID, broken)
		}
		if !c.Until.IsZero() {
			s += " until " + c.Until.UTC().Format(time.RFC3339)
		}
		if by := strings.Join(slices.DeleteFunc([]string{c.Reason, c.Author}, func(s string) bool { return s == "" }), ", by "); by != "" {
			s += ": " + by
		}
		sentences = append(sentences, s+".")
	}
	return strings.Join(sentences, " ")
}

// Disabled returns why a stored definition admits no callers on this server: one of its patterns cannot be compiled
// here. If all patterns can be compiled, it returns an empty string.
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
