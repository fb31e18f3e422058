// Package tlsfiles makes configurations of TLS from PEM files that are renewed while programs run. Servers and the
// client library use it.
//
// Files are read again at each handshake. A renewal takes several steps, so what is found may be half of one: it is
// passed over, and the last configuration that could be made goes on serving.
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

// FileError says which file cannot be used, and why.
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

// Pool reads authorities. The error is a *FileError.
func Pool(files ...string) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for _, f := range files {
		pem, err := os.ReadFile(f)
		if err != nil {
			return nil, &FileError{f, err}
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, &FileError{f, errors.New("holds no PEM certificate")}
		}
	}
	return pool, nil
}

// Latest is the newest configuration that could be made from files. Its methods may be called from any goroutine.
type Latest struct {
	read   func() (*tls.Config, error)
	usable atomic.Pointer[tls.Config]
}

// New reads the files for the first time; the error is that of read.
func New(read func() (*tls.Config, error)) (*Latest, error) {
	l := Unread(read)
	_, err := l.Read()
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Unread is New for files that are not read yet: call Read, and Config only after it succeeded.
func Unread(read func() (*tls.Config, error)) *Latest { return &Latest{read: read} }

// Read reads the files again. It fails, with the error of read, if they could never be used. The caller does not change
// what it returns.
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

// Config is Read of files that could be used once.
func (l *Latest) Config() *tls.Config {
	cfg, _ := l.Read()
	return cfg
}

// Credentials are those of connections that this side makes, from the files as they are at each handshake.
func (l *Latest) Credentials() credentials.TransportCredentials {
	return &dialing{credentials.NewTLS(l.usable.Load()), l}
}

type dialing struct {
	credentials.TransportCredentials
	latest *Latest
}

// ClientHandshake is that of credentials.TransportCredentials.
func (d *dialing) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(d.latest.Config()).ClientHandshake(ctx, authority, raw)
}

// Clone is that of credentials.TransportCredentials.
func (d *dialing) Clone() credentials.TransportCredentials { return d.latest.Credentials() }
