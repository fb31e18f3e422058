//go:build !linux

package run

import "errors"

func mount(string) error { return errors.ErrUnsupported }

func unmount(string) {}
