package api

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxShown is the most bytes of a value that an error repeats.
const maxShown = semaphore.MaxShown

// invalid is the error of a field that breaks a rule, for what only the API knows: encodings, pages, globs. Everything else is
// validated by semaphore.
func invalid(field, value, rule string) error {
	return &semaphore.FieldError{Field: field, Value: shown(value), Rule: rule}
}

// shown makes a value fit for an error: valid UTF-8, no control characters, short.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	if len(s) <= maxShown {
		return s
	}
	end := maxShown - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// at is the path of the i-th element of a repeated field.
func at(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// within puts a path before the field of a FieldError; every other error stays as it is.
func within(path string, err error) error {
	e, ok := errors.AsType[*semaphore.FieldError](err)
	if !ok || path == "" {
		return err
	}
	return &semaphore.FieldError{Field: path + "." + e.Field, Value: e.Value, Rule: e.Rule}
}

// renamed gives a FieldError another field; every other error stays as it is.
func renamed(field string, err error) error {
	e, ok := errors.AsType[*semaphore.FieldError](err)
	if !ok {
		return err
	}
	return &semaphore.FieldError{Field: field, Value: e.Value, Rule: e.Rule}
}
