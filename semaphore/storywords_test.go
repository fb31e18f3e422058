package semaphore

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file parses the arguments of scenario commands. A parse error is a mistake in a scenario, so it panics.

// splitWords splits a line at spaces outside quotation marks.
func splitWords(line string) []string {
	var all []string
	quoted := false
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	}) {
		all = append(all, strings.ReplaceAll(word, `"`, ""))
	}
	return all
}

// options returns the arguments of the form key=value.
func options(args []string) map[string]string {
	o := map[string]string{}
	for _, arg := range args {
		if key, value, ok := strings.Cut(arg, "="); ok {
			o[key] = value
		}
	}
	return o
}

func hasArg(args []string, word string) bool { return slices.Contains(args, word) }

// parseRequest parses WHO and the options of an acquire command.
func parseRequest(semaphore string, args []string) *Request {
	who := strings.SplitN(args[0]+"//", "/", 3)
	req := &Request{
		Semaphore: semaphore, Weight: 1,
		Identity: Identity{Group: who[0], Acquirer: who[1], HolderID: strings.Trim(who[2], "/")},
	}
	o := options(args[1:])
	if w, ok := o["weight"]; ok {
		req.Weight = uint32(parseUint(w))
	}
	if name, ok := o["firing"]; ok {
		req.Firing = &Firing{Name: name}
		if due, ok := o["due"]; ok {
			req.Firing.Due = parseTime(due)
		}
	}
	return req
}

// setFields sets fields of a definition by their API names.
func setFields(d *Definition, o map[string]string) *Definition {
	for field, value := range o {
		var name strings.Builder
		for part := range strings.SplitSeq(field, "_") {
			name.WriteString(capitalize(part))
		}
		v := reflect.ValueOf(d).Elem().FieldByName(name.String())
		if !v.IsValid() {
			panic("scenario: unknown field " + field)
		}
		switch v.Interface().(type) {
		case string:
			v.SetString(value)
		case uint32:
			v.SetUint(parseUint(value))
		case time.Duration:
			v.SetInt(int64(parseDuration(value)))
		case OnExpiry:
			v.SetUint(uint64(map[string]OnExpiry{"free": OnExpiryFree, "hold": OnExpiryHold}[value]))
		case FiringOnLoss:
			v.SetUint(uint64(map[string]FiringOnLoss{"spent": FiringSpent, "free": FiringFree}[value]))
		case bool:
			v.SetBool(value == "true")
		default:
			panic("scenario: unsupported field " + field)
		}
	}
	return d
}

func capitalize(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-('a'-'A')) + s[1:]
	}
	return s
}

func parseUint(s string) uint64 { return must(strconv.ParseUint(s, 10, 64)) }

func parseDuration(s string) time.Duration { return must(time.ParseDuration(s)) }

func parseTime(s string) time.Time { return must(time.Parse(time.RFC3339, s)).UTC() }

// mustCompile compiles a pattern. It returns nil, which matches nothing, for the empty string.
func mustCompile(s string) *Pattern {
	if s == "" {
		return nil
	}
	return must(CompilePattern("pattern", s))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("scenario: ", err))
	}
	return v
}
