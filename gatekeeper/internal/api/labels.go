package api

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxSelector is the most bytes of a label selector.
	maxSelector = 4096
	// labelsField is where requests carry one.
	labelsField = "labels"
)

// selector selects definitions by their labels: all its requirements must hold. The empty selector selects all.
type selector []requirement

// requirement asks something of one label. A label that is absent has none of the values, so k!=v and k notin (v) hold.
type requirement struct {
	key    string
	values []string // empty: about the label's presence alone
	not    bool
}

func (s selector) match(labels semaphore.Labels) bool {
	for _, r := range s {
		value, present := labels.Get(r.key)
		if len(r.values) > 0 {
			present = present && slices.Contains(r.values, value)
		}
		if present == r.not {
			return false
		}
	}
	return true
}

// matchOf tells whether the semaphore of that name has a definition that the selector selects. The empty selector also selects a
// name whose definition was deleted.
func (s selector) matchOf(state *fsm.State, name string) bool {
	if len(s) == 0 {
		return true
	}
	sd := state.Definition(name)
	return sd != nil && s.match(sd.Definition.Labels)
}

// matchEntry tells whether a journal entry is about a semaphore that the selector selects now, or selected before or after the entry.
func (s selector) matchEntry(state *fsm.State, e *fsm.JournalEntry) bool {
	return s.matchOf(state, e.Semaphore) ||
		e.Before != nil && s.match(e.Before.Labels) || e.After != nil && s.match(e.After.Labels)
}

// parseSelector reads a selector in the language of Kubernetes:
//
//	team=data, tier!=test, zone in (a, b), zone notin (c), critical, !legacy
//
// A value may contain spaces, as in cron=*/7 * * * *. A value with one of =,!()" must be quoted, where \" and \\ stand for those
// characters.
func parseSelector(text string) (selector, error) {
	if len(text) > maxSelector {
		return nil, invalid(labelsField, text, "must be at most "+strconv.Itoa(maxSelector)+" bytes, not "+strconv.Itoa(len(text)))
	}
	p := &selectorParser{text: text}
	s := p.selector()
	if p.broken != "" {
		return nil, invalid(labelsField, text, "at byte "+strconv.Itoa(p.pos)+": "+p.broken)
	}
	return s, nil
}

// selectorParser stands at pos. The first fault stops it there; after one every method does nothing.
type selectorParser struct {
	text   string
	pos    int
	broken string
}

func (p *selectorParser) selector() selector {
	p.space()
	if p.pos == len(p.text) {
		return nil
	}
	var s selector
	for {
		s = append(s, p.requirement())
		switch {
		case p.broken != "", p.pos == len(p.text):
			return s
		case !p.accept(","):
			p.fail(`want a comma or the end; a value with a comma or one of =!() must stand between quotation marks, as in cron="0,30 2 * * *"`)
			return nil
		}
	}
}

func (p *selectorParser) requirement() requirement {
	if p.accept("!") {
		return requirement{key: p.key(), not: true}
	}
	r := requirement{key: p.key()}
	switch {
	case p.accept("!="):
		r.not = true
		r.values = []string{p.value()}
	case p.accept("=="), p.accept("="):
		r.values = []string{p.value()}
	case p.word("in"):
		r.values = p.list()
	case p.word("notin"):
		r.not = true
		r.values = p.list()
	}
	return r
}

func (p *selectorParser) list() []string {
	if !p.accept("(") {
		p.fail("want ( and a list of values")
		return nil
	}
	values := []string{p.value()}
	for p.accept(",") {
		values = append(values, p.value())
	}
	if !p.accept(")") {
		p.fail("want a comma or )")
	}
	return values
}

func (p *selectorParser) key() string {
	key := p.plain()
	if key == "" {
		p.fail("want the name of a label")
	}
	return key
}

// value reads a value, which may be empty, as in k= and k in (a,), and may contain spaces.
func (p *selectorParser) value() string {
	if p.broken != "" || p.pos == len(p.text) || p.text[p.pos] != '"' {
		return p.until(isReserved)
	}
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.pos = i + 1
			p.space()
			return b.String()
		case c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\'):
			i++
			c = p.text[i]
		}
		b.WriteByte(c)
	}
	p.fail("the quotation mark is not closed")
	return ""
}

// isReserved tells whether a character belongs to the selector's own language.
func isReserved(r rune) bool { return strings.ContainsRune("=,!()\"", r) }

// plain reads a word that contains neither a space nor a character of the selector's own language; no key does.
func (p *selectorParser) plain() string {
	return p.until(func(r rune) bool { return isReserved(r) || unicode.IsSpace(r) })
}

// until reads up to the first character that ends it, and passes over spaces. What it returns does not end with a space.
func (p *selectorParser) until(ends func(rune) bool) string {
	if p.broken != "" {
		return ""
	}
	rest := p.text[p.pos:]
	end := strings.IndexFunc(rest, ends)
	if end < 0 {
		end = len(rest)
	}
	p.pos += end
	p.space()
	return strings.TrimRightFunc(rest[:end], unicode.IsSpace)
}

// word accepts a word of the language, which must not go on.
func (p *selectorParser) word(word string) bool {
	rest, ok := strings.CutPrefix(p.text[p.pos:], word)
	if next, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && next != '(' && !unicode.IsSpace(next) {
		return false
	}
	return p.accept(word)
}

func (p *selectorParser) accept(token string) bool {
	if p.broken != "" || !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	p.space()
	return true
}

func (p *selectorParser) space() {
	p.pos = len(p.text) - len(strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace))
}

func (p *selectorParser) fail(why string) {
	if p.broken == "" {
		p.broken = why
	}
}
