package oidc

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// SourceError reports why keys cannot be read from a file or a URL.
type SourceError struct {
	From string
	Err  error
}

func (e *SourceError) Error() string { return e.From + ": " + e.Err.Error() }

func (e *SourceError) Unwrap() error { return e.Err }

// maxDocument is the maximum size of the issuer's responses in bytes.
const maxDocument = 1 << 20

// keysFile is a file containing a JWK Set.
type keysFile struct {
	path string
	last os.FileInfo // of the last content read; nil if none
}

// read returns the file's content, or nil if it has not changed. Only one load runs at a time, so last needs no lock.
func (f *keysFile) read(context.Context) ([]byte, error) {
	info, err := os.Stat(f.path)
	if err == nil && f.last != nil && os.SameFile(info, f.last) && info.ModTime().Equal(f.last.ModTime()) && info.Size() == f.last.Size() {
		return nil, nil
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(f.path)
	}
	if err == nil {
		f.last = info
		return text, nil
	}
	f.last = nil
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err
	}
	return nil, &SourceError{f.path, err}
}

// issuer fetches keys from an issuer.
type issuer struct{ url, keysURL, caFile string }

// read fetches the keys.
func (i *issuer) read(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	client, done, err := i.client()
	if err != nil {
		return nil, err
	}
	defer done()
	from := i.keysURL
	if from == "" {
		if from, err = i.discover(ctx, client); err != nil {
			return nil, err
		}
	}
	return get(ctx, client, from)
}

// client returns an HTTP client for one fetch. Fetches are rare, and the CA certificates may have changed since the
// last one.
func (i *issuer) client() (*http.Client, func(), error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	if i.caFile != "" {
		pool, err := tlsfiles.Pool(i.caFile)
		if err != nil {
			return nil, nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: transport, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if to.URL.Scheme != "https" || len(via) > 3 {
			return errors.New("it redirects to a non-https URL, or too many times")
		}
		return nil
	}}, transport.CloseIdleConnections, nil
}

// discover looks up the URL of the keys in the issuer's discovery document.
func (i *issuer) discover(ctx context.Context, client *http.Client) (string, error) {
	from := strings.TrimSuffix(i.url, "/") + "/.well-known/openid-configuration"
	text, err := get(ctx, client, from)
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	switch err := json.Unmarshal(text, &document); {
	case err != nil:
		return "", &SourceError{from, errors.New("is not JSON")}
	case document.Issuer != i.url:
		return "", &SourceError{from, fmt.Errorf("belongs to issuer %s: set --oidc-issuer to it if that is correct", quoted(document.Issuer))}
	case !strings.HasPrefix(document.KeysURL, "https://"):
		return "", &SourceError{from, fmt.Errorf("has a jwks_uri without https: %s", quoted(document.KeysURL))}
	}
	return document.KeysURL, nil
}

func get(ctx context.Context, client *http.Client, from string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, &SourceError{from, err}
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err // the error contains the URL
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &SourceError{from, errors.New("responded " + resp.Status)}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, &SourceError{from, err}
	case len(text) > maxDocument:
		return nil, &SourceError{from, fmt.Errorf("is larger than %d bytes", maxDocument)}
	}
	return text, nil
}
