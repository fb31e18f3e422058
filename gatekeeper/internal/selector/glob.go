package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxGlob is the maximum length of a glob in bytes.
	maxGlob = 512
	// maxGlobs is the maximum number of globs in a call.
	maxGlobs = 100
)

// Globs selects semaphores by name. An empty Globs selects all of them.
type Globs []*glob

// ParseGlobs compiles a call's globs. field is the name of the request field that contains them, for error messages.
func ParseGlobs(field string, texts []string) (Globs, error) {
	if len(texts) > maxGlobs {
		return nil, semaphore.Invalid(field, strconv.Itoa(len(texts))+" globs", "must be at most "+strconv.Itoa(maxGlobs)+" globs")
	}
	var set Globs
	for i, text := range texts {
		g, problem := compileGlob(text)
		if problem != "" {
			return nil, semaphore.Invalid(field+"["+strconv.Itoa(i)+"]", text, problem)
		}
		set = append(set, g)
	}
	return set, nil
}

// Match reports whether a name matches any of the globs.
func (s Globs) Match(name string) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(g *glob) bool { return g.match(name) })
}

// glob is a compiled shell pattern for names: * matches any sequence of characters, ? any single character, and [abc],
// [a-z] and [^a-z] (or [!a-z]) a single character from a set. Every other character, including a slash, matches itself.
// There is no escape character, because semaphore names do not contain *?[].
type glob struct {
	name  string // the whole text if it is plain, in which case there are no steps
	steps []globStep
}

// plain reports whether text is a name rather than a glob.
func plain(text string) bool { return !strings.ContainsAny(text, "*?[]") }

// globStep matches a single character, or any sequence of characters.
type globStep struct {
	kind   globKind
	char   rune        // for globChar
	ranges []runeRange // for globClass
	not    bool        // for globClass: matches characters outside the ranges
}

type globKind uint8

const (
	globChar  globKind = iota // one given character
	globAny                   // ?
	globRun                   // *
	globClass                 // a set in brackets
)

type runeRange struct{ low, high rune }

// compileGlob compiles a glob. problem is the rule that text violates, or empty.
func compileGlob(text string) (g *glob, problem string) {
	switch {
	case text == "":
		return nil, "must not be empty: omit it to select all"
	case len(text) > maxGlob:
		return nil, "must be at most " + strconv.Itoa(maxGlob) + " bytes, not " + strconv.Itoa(len(text))
	case !utf8.ValidString(text):
		return nil, "must be valid UTF-8"
	case plain(text):
		return &glob{name: text}, ""
	}
	g = new(glob)
	for rest := text; rest != ""; {
		char, size := utf8.DecodeRuneInString(rest)
		position := len(text) - len(rest)
		rest = rest[size:]
		switch char {
		case '*':
			if n := len(g.steps); n == 0 || g.steps[n-1].kind != globRun {
				g.steps = append(g.steps, globStep{kind: globRun})
			}
		case '?':
			g.steps = append(g.steps, globStep{kind: globAny})
		case '[':
			step, after, problem := compileClass(rest)
			if problem != "" {
				return nil, "must be a valid glob: the [ at byte " + strconv.Itoa(position) + " " + problem
			}
			g.steps, rest = append(g.steps, step), after
		default:
			g.steps = append(g.steps, globStep{kind: globChar, char: char})
		}
	}
	return g, ""
}

// compileClass parses a set. text starts after the [, and the returned rest starts after the ]. The first ] always ends
// the set. A - at the start or end is literal.
func compileClass(text string) (step globStep, rest, problem string) {
	body, rest, closed := strings.Cut(text, "]")
	if !closed {
		return globStep{}, "", "is not closed by a ]"
	}
	step.kind = globClass
	if body != "" && (body[0] == '^' || body[0] == '!') {
		step.not, body = true, body[1:]
	}
	if body == "" {
		return globStep{}, "", "starts an empty set"
	}
	chars := []rune(body)
	for i := 0; i < len(chars); i++ {
		r := runeRange{chars[i], chars[i]}
		if i+2 < len(chars) && chars[i+1] == '-' {
			r.high = chars[i+2]
			i += 2
		}
		if r.low > r.high {
			return globStep{}, "", "starts a set with the reversed range " + string(r.low) + "-" + string(r.high)
		}
		step.ranges = append(step.ranges, r)
	}
	return step, rest, ""
}

// match reports whether the whole name matches. It takes at most about len(steps) * len(name) iterations. After a
// mismatch, only the last * takes another character, because extending an earlier * would not find more matches.
func (g *glob) match(name string) bool {
	if g.name != "" {
		return name == g.name
	}
	step, rest := 0, name
	run, runRest := -1, "" // the last * seen, and the rest of the name after its match
	for rest != "" {
		if step < len(g.steps) && g.steps[step].kind == globRun {
			run, runRest = step, rest
			step++
			continue
		}
		char, size := utf8.DecodeRuneInString(rest)
		if step < len(g.steps) && g.steps[step].matches(char) {
			step, rest = step+1, rest[size:]
			continue
		}
		if run < 0 {
			return false
		}
		_, size = utf8.DecodeRuneInString(runRest)
		runRest = runRest[size:]
		step, rest = run+1, runRest
	}
	for step < len(g.steps) && g.steps[step].kind == globRun {
		step++
	}
	return step == len(g.steps)
}

func (s *globStep) matches(char rune) bool {
	switch s.kind {
	case globAny:
		return true
	case globClass:
		in := slices.ContainsFunc(s.ranges, func(r runeRange) bool { return r.low <= char && char <= r.high })
		return in != s.not
	default:
		return s.char == char
	}
}
