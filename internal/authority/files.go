package authority

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files holds the paths of a certificate and its key.
type Files struct{ Cert, Key string }

// ExistsError means that a file exists and was not overwritten.
type ExistsError struct{ File string }

func (e *ExistsError) Error() string { return e.File + " already exists" }

// EnsureAbsent returns an *ExistsError if one of the files exists.
func (f Files) EnsureAbsent() error {
	for _, path := range []string{f.Key, f.Cert} {
		if _, err := os.Lstat(path); err == nil {
			return &ExistsError{path}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Write writes the pair to the files and replaces existing ones. Only the owner can read the key. Each file is replaced
// atomically, so that a server never reads a partial file. A server that reads both files between the two replacements
// may see the new key with the old certificate.
func (p *Pair) Write(f Files) error {
	key, err := p.KeyPEM()
	if err != nil {
		return err
	}
	if err := replace(f.Key, key, 0o600); err != nil {
		return err
	}
	return replace(f.Cert, p.CertPEM(), 0o644)
}

func replace(path string, data []byte, mode fs.FileMode) (err error) {
	t, err := os.CreateTemp(filepath.Dir(path), ".new-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(t.Name()) // the returned error reports what failed
		}
	}()
	_, err = t.Write(data)
	if err = errors.Join(err, t.Chmod(mode), t.Sync(), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), path)
}

// Read reads the pair from the files, which must belong to an authority.
func Read(f Files) (*Pair, error) {
	cert, err := os.ReadFile(f.Cert)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(f.Key)
	if err != nil {
		return nil, err
	}
	p, err := Parse(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.Cert, f.Key, err)
	}
	return p, nil
}
