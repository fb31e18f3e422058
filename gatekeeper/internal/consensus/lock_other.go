//go:build !unix

package consensus

import (
	"errors"
	"io"
	"os"
)

// lockFolder has no lock here that a crash gives back.
func lockFolder(string) (*os.File, error) {
	return nil, errors.New("data folders need a Unix system")
}

func watchFolder(string) (io.Closer, error) {
	return nil, errors.New("data folders need a Unix system")
}
