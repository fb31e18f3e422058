package api

import (
	"errors"
	"strconv"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// invalid is the error of a field that breaks a rule which only the API knows: encodings, pages. Everything else is validated by semaphore.
func invalid(field, value, rule string) error { return semaphore.Invalid(field, value, rule) }

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
