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

// maxLabels is the most bytes of the requirements on labels.
const maxLabels = 4096

// labels selects definitions by their labels: all the requirements must hold. None selects all.
type labels []requirement

// requirement asks something of one label. A label that is absent has none of the values, so k!=v and k notin (v) hold.
type requirement struct {
	key    string
	values []string // empty: about the label's presence alone
	not    bool
}

func (s labels) match(of semaphore.Labels) bool {
	for _, r := range s {
		value, present := of.Get(r.key)
		if len(r.values) > 0 {
			present = present && slices.Contains(r.values, value)
		}
		if present == r.not {
			return false
		}
	}
	return true
}

// matchOf reports whether the semaphore of that name has a definition with such labels. Without requirements a name is
// selected too whose definition was deleted.
func (s labels) matchOf(state *fsm.State, name string) bool {
	if len(s) == 0 {
		return true
	}
	sd := state.Definition(name)
	return sd != nil && s.match(sd.Definition.Labels)
}

// String is the text that parseLabels reads as these requirements.
func (s labels) String() string {
	texts := make([]string, len(s))
	for i, r := range s {
		texts[i] = r.String()
	}
	return strings.Join(texts, ",")
}

func (r requirement) String() string {
	not := func(is, isNot string) string {
		if r.not {
			return isNot
		}
		return is
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

// quoted is a value as it must be written in requirements.
func quoted(value string) string {
	if !strings.ContainsFunc(value, isReserved) && strings.TrimSpace(value) == value {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// parseLabels reads requirements in the language of Kubernetes; field is theirs in the request:
//
//	team=data, tier!=test, zone in (a, b), zone notin (c), critical, !legacy
//
// A value may contain spaces, as in cron=*/7 * * * *. A value with one of =,!()" must be quoted, where \" and \\ stand
// for those characters.
func parseLabels(field, text string) (labels, error) {
	if len(text) > maxLabels {
		return nil, semaphore.Invalid(field, text, "must be at most "+strconv.Itoa(maxLabels)+" bytes, not "+strconv.Itoa(len(text)))
	}
	p := &labelsParser{text: text}
	s := p.labels()
	if p.broken != "" {
		return nil, semaphore.Invalid(field, text, "at byte "+strconv.Itoa(p.pos)+": "+p.broken)
	}
	return s, nil
}

// labelsParser stands at pos. The first fault stops it there; after one every method does nothing.
type labelsParser struct {
	text   string
	pos    int
	broken string
}

func (p *labelsParser) labels() labels {
	p.space()
	if p.pos == len(p.text) {
		return nil
	}
	var s labels
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

func (p *labelsParser) key() string {
	key := p.plain()
	if key == "" {
		p.fail("want the name of a label")
	}
	return key
}

// value reads a value, which may be empty, as in k= and k in (a,), and may contain spaces.
func (p *labelsParser) value() string {
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

// isReserved reports whether a character belongs to the selector's own language.
func isReserved(r rune) bool { return strings.ContainsRune("=,!()\"", r) }

// plain reads a word that contains neither a space nor a character of the selector's own language; no key does.
func (p *labelsParser) plain() string {
	return p.until(func(r rune) bool { return isReserved(r) || unicode.IsSpace(r) })
}

// until reads up to the first character that ends it, and passes over spaces. What it returns does not end with a
// space.
func (p *labelsParser) until(ends func(rune) bool) string {
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
func (p *labelsParser) word(word string) bool {
	rest, ok := strings.CutPrefix(p.text[p.pos:], word)
	if next, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && next != '(' && !unicode.IsSpace(next) {
		return false
	}
	return p.accept(word)
}

func (p *labelsParser) accept(token string) bool {
	if p.broken != "" || !strings.HasPrefix(p.text[p.pos:], token) {
		return false
	}
	p.pos += len(token)
	p.space()
	return true
}

func (p *labelsParser) space() {
	p.pos = len(p.text) - len(strings.TrimLeftFunc(p.text[p.pos:], unicode.IsSpace))
}

func (p *labelsParser) fail(why string) {
	if p.broken == "" {
		p.broken = why
	}
}
