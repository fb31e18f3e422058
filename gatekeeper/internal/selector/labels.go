package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxLabels is the maximum length of label requirements in bytes.
const maxLabels = 4096

// labels selects definitions by label: all requirements must hold. Without requirements it selects every definition.
type labels []requirement

// requirement is a condition on one label. An absent label has no value, so k!=v and k notin (v) hold.
type requirement struct {
	key    string
	values []string // empty if only the label's presence matters
	not    bool
}

func (s labels) match(l semaphore.Labels) bool {
	for _, r := range s {
		value, present := l.Get(r.key)
		if len(r.values) > 0 {
			present = present && slices.Contains(r.values, value)
		}
		if present == r.not {
			return false
		}
	}
	return true
}

// matchNamed reports whether the named semaphore has a definition with matching labels. Without requirements, it also
// matches a name whose definition was deleted.
func (s labels) matchNamed(state *fsm.State, name string) bool {
	if len(s) == 0 {
		return true
	}
	sd := state.Definition(name)
	return sd != nil && s.match(sd.Definition.Labels)
}

// String returns the requirements in the syntax that parseLabels accepts.
func (s labels) String() string {
	texts := make([]string, len(s))
	for i, r := range s {
		texts[i] = r.String()
	}
	return strings.Join(texts, ",")
}

func (r requirement) String() string {
	not := func(positive, negated string) string {
		if r.not {
			return negated
		}
		return positive
	}
	values := make([]string, len(r.values))
	for i, v := range r.values {
		values[i] = quoted(v)
	}
	switch len(values) {
	case 0:
		return not("", "!") + r.key
	case 1:
		return r.key + not("=", "!=") + values[0]
	default:
		return r.key + not(" in ", " notin ") + "(" + strings.Join(values, ",") + ")"
	}
}

// quoted returns a value, in quotation marks if the syntax requires them.
func quoted(value string) string {
	if !strings.ContainsFunc(value, isReserved) && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// parseLabels parses requirements in Kubernetes syntax. field is the name of the request field that contains them, for
// error messages.
//
//	team=data, tier!=test, zone in (a, b), zone notin (c), critical, !legacy
//
// A value may contain spaces, as in cron=*/7 * * * *. A value that contains one of =,!()" must be quoted, with \" and
// \\ for " and \.
func parseLabels(field, text string) (labels, error) {
	if len(text) > maxLabels {
		return nil, semaphore.Invalid(field, text, "must be at most "+strconv.Itoa(maxLabels)+" bytes, not "+strconv.Itoa(len(text)))
	}
	p := &labelsParser{text: text}
	s := p.labels()
	if p.problem != "" {
		return nil, semaphore.Invalid(field, text, "at byte "+strconv.Itoa(p.pos)+": "+p.problem)
	}
	return s, nil
}

// labelsParser parses text starting at pos. After the first error, its methods do nothing.
type labelsParser struct {
	text    string
	pos     int
	problem string
}

func (p *labelsParser) labels() labels {
	p.skipSpace()
	if p.pos == len(p.text) {
		return nil
	}
	var s labels
	for {
		s = append(s, p.requirement())
		switch {
		case p.problem != "", p.pos == len(p.text):
			return s
		case !p.accept(","):
			p.fail(`expected a comma or the end; a value that contains a comma or one of =!() must be quoted, as in cron="0,30 2 * * *"`)
			return nil
		}
	}
}

func (p *labelsParser) requirement() requirement {
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

func (p *labelsParser) list() []string {
	if !p.accept("(") {
		p.fail("expected ( and a list of values")
		return nil
	}
	values := []string{p.value()}
	for p.accept(",") {
		values = append(values, p.value())
	}
	if !p.accept(")") {
		p.fail("expected a comma or )")
	}
	return values
}

func (p *labelsParser) key() string {
	key := p.plain()
	if key == "" {
		p.fail("expected a label name")
	}
	return key
}

// value parses a value, which may be empty, as in k= and k in (a,), and may contain spaces.
func (p *labelsParser) value() string {
	if p.problem != "" || p.pos == len(p.text) || p.text[p.pos] != '"' {
		return p.until(isReserved)
	}
	var b strings.Builder
	for i := p.pos + 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == '"':
			p.pos = i + 1
			p.skipSpace()
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

// isReserved reports whether a character is part of the syntax.
func isReserved(r rune) bool { return strings.ContainsRune("=,!()\"", r) }

// plain parses text without spaces or reserved characters, such as a key.
func (p *labelsParser) plain() string {
	return p.until(func(r rune) bool { return isReserved(r) || unicode.IsSpace(r) })
}

// until parses up to the first character for which isEnd returns true. It skips spaces before that character and trims
// them from the result.
func (p *labelsParser) until(isEnd func(rune) bool) string {
	if p.problem != "" {
		return ""
	}
	rest := p.text[p.pos:]
	end := strings.IndexFunc(rest, isEnd)
	if end < 0 {
		end = len(rest)
	}
	p.pos += end
	p.skipSpace()
	return strings.TrimRightFunc(rest[:end], unicode.IsSpace)
}

// word accepts a keyword unless it is only the prefix of a longer word.
func (p *labelsParser) word(word string) bool {
	rest, ok := strings.CutPrefix(p.text[p.pos:], word)
	if next, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && next != '(' && !unicode.IsSpace(next) {
		return false
	}
	return p.accept(word)
}

func (p *labelsParser) accept(token string) bool {
	if p.problem != "" || !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	p.skipSpace()
	return true
}

func (p *labelsParser) skipSpace() {
	p.pos = len(p.text) - len(strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace))
}

func (p *labelsParser) fail(why string) {
	if p.problem == "" {
		p.problem = why
	}
}
