// Package tlsfiles builds TLS configurations from PEM files that may be renewed while the program runs. Servers and the
// client library use it.
//
// Files are read again at each handshake. A renewal replaces more than one file, so a handshake may find only some of
// them replaced. It then ignores the files, and the last valid configuration stays in use.
package tlsfiles

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
)

// FileError reports which file cannot be used, and why.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("TLS file %q: %v", e.File, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// Pair reads a certificate and its key. The error is a *FileError.
func Pair(cert, key string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return pair, &FileError{cert, fmt.Errorf("with key %q: %w", key, err)}
	}
	return pair, nil
}

// Pool reads CA certificates into a pool. The error is a *FileError.
func Pool(files ...string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, f := range files {
		pem, err := os.ReadFile(f)
		if err != nil {
			return nil, &FileError{f, err}
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, &FileError{f, errors.New("contains no PEM certificate")}
		}
	}
	return pool, nil
}

// Latest is the newest valid configuration built from files. Its methods are safe for concurrent use.
type Latest struct {
	read   func() (*tls.Config, error)
	usable atomic.Pointer[tls.Config]
}

// New reads the files for the first time. It returns the error from read, if any.
func New(read func() (*tls.Config, error)) (*Latest, error) {
	l := NewUnread(read)
	_, err := l.Read()
	if err != nil {
		return nil, err
	}
	return l, nil
}

// NewUnread is like New, but does not read the files. Call Read first, and call Config only after Read has succeeded.
func NewUnread(read func() (*tls.Config, error)) *Latest { return &Latest{read: read} }

// Read reads the files again. If that fails, it returns the last valid configuration, or the error from read if there
// is no valid configuration yet. The caller must not modify the result.
func (l *Latest) Read() (*tls.Config, error) {
	cfg, err := l.read()
	if err == nil {
		l.usable.Store(cfg)
		return cfg, nil
	}
	if last := l.usable.Load(); last != nil {
		return last, nil
	}
	return nil, err
}

// Config is like Read, for files that have already been read successfully.
func (l *Latest) Config() *tls.Config {
	cfg, _ := l.Read()
	return cfg
}

// Credentials returns credentials for outgoing connections, which read the files at each handshake.
func (l *Latest) Credentials() credentials.TransportCredentials {
	return &dialCredentials{credentials.NewTLS(l.usable.Load()), l}
}

type dialCredentials struct {
	credentials.TransportCredentials
	latest *Latest
}

// ClientHandshake implements credentials.TransportCredentials.
func (d *dialCredentials) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(d.latest.Config()).ClientHandshake(ctx, authority, raw)
}

// Clone implements credentials.TransportCredentials.
func (d *dialCredentials) Clone() credentials.TransportCredentials { return d.latest.Credentials() }
