package selector

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxGlob is the most bytes of one glob.
	maxGlob = 512
	// maxGlobs is the most globs of one call.
	maxGlobs = 100
)

// Globs selects by name. The empty set selects all.
type Globs []*glob

// ParseGlobs reads the globs of one call; field is theirs in the request.
func ParseGlobs(field string, texts []string) (Globs, error) {
	if len(texts) > maxGlobs {
		return nil, semaphore.Invalid(field, strconv.Itoa(len(texts))+" globs", "must be at most "+strconv.Itoa(maxGlobs)+" globs")
	}
	var set Globs
	for i, text := range texts {
		g, broken := compileGlob(text)
		if broken != "" {
			return nil, semaphore.Invalid(field+"["+strconv.Itoa(i)+"]", text, broken)
		}
		set = append(set, g)
	}
	return set, nil
}

// Match reports whether a name fits one of the globs.
func (s Globs) Match(name string) bool {
	return len(s) == 0 || slices.ContainsFunc(s, func(g *glob) bool { return g.match(name) })
}

// glob is a compiled name pattern of the kind that shells have: * is any run of characters, ? any one, [abc], [a-z] and
// [^a-z] (or [!a-z]) one of a set. Everything else stands for itself, the slash too. There is no escape: semaphore
// names contain none of *?[].
type glob struct{ steps []globStep }

// plain reports whether a text is a name and not a glob.
func plain(text string) bool { return !strings.ContainsAny(text, "*?[]") }

// globStep matches one character, or any run of them.
type globStep struct {
	kind   globKind
	char   rune        // globChar
	ranges []runeRange // globClass
	not    bool        // globClass: one that is in none of the ranges
}

type globKind uint8

const (
	globChar globKind = iota
	globAny
	globRun
	globClass
)

type runeRange struct{ low, high rune }

// compileGlob returns the glob, or the rule that the text breaks.
func compileGlob(text string) (g *glob, broken string) {
	switch {
	case text == "":
		return nil, "must not be empty; leave it out to select all"
	case len(text) > maxGlob:
		return nil, "must be at most " + strconv.Itoa(maxGlob) + " bytes, not " + strconv.Itoa(len(text))
	case !utf8.ValidString(text):
		return nil, "must be valid UTF-8"
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
			step, after, broken := compileClass(rest)
			if broken != "" {
				return nil, "must close and fill the [ at byte " + strconv.Itoa(position) + ": " + broken
			}
			g.steps, rest = append(g.steps, step), after
		default:
			g.steps = append(g.steps, globStep{kind: globChar, char: char})
		}
	}
	return g, ""
}

// compileClass reads a set from behind its [ and returns what stands behind its ]. A ] that comes first is the end, and
// a - that is first or last stands for itself.
func compileClass(text string) (step globStep, rest, broken string) {
	body, rest, closed := strings.Cut(text, "]")
	if !closed {
		return globStep{}, "", "there is no ]"
	}
	step.kind = globClass
	if body != "" && (body[0] == '^' || body[0] == '!') {
		step.not, body = true, body[1:]
	}
	if body == "" {
		return globStep{}, "", "the set is empty"
	}
	chars := []rune(body)
	for i := 0; i < len(chars); i++ {
		r := runeRange{chars[i], chars[i]}
		if i+2 < len(chars) && chars[i+1] == '-' {
			r.high = chars[i+2]
			i += 2
		}
		if r.low > r.high {
			return globStep{}, "", "the range " + string(r.low) + "-" + string(r.high) + " is reversed"
		}
		step.ranges = append(step.ranges, r)
	}
	return step, rest, ""
}

// match says whether the whole name fits. It takes len(steps) * len(name) steps at most: when something does not fit,
// only the last run is made one character longer, because an earlier one could not reach further than it did.
func (g *glob) match(name string) bool {
	step, rest := 0, name
	run, runRest := -1, "" // the last run seen, and what is left of the name behind what it has taken
	for rest != "" {
		if step < len(g.steps) && g.steps[step].kind == globRun {
			run, runRest = step, rest
			step++
			continue
		}
		char, size := utf8.DecodeRuneInString(rest)
		if step < len(g.steps) && g.steps[step].fits(char) {
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

func (s *globStep) fits(char rune) bool {
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
