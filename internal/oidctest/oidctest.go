// Package oidctest provides a JWT issuer for tests, with Kubernetes-style claims.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Key signs JWTs.
type Key struct {
	ID        string
	Private   crypto.Signer
	algorithm jose.SignatureAlgorithm
}

// NewKey creates an ECDSA key.
func NewKey(id string) *Key {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return must(&Key{id, private, jose.ES256}, err)
}

// NewRSAKey creates an RSA key, the kind that Kubernetes uses.
func NewRSAKey(id string) *Key {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	return must(&Key{id, private, jose.RS256}, err)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Claims are the claims of a JWT.
type Claims map[string]any

// With returns a copy of the claims with one claim changed, or removed if value is nil.
func (c Claims) With(claim string, value any) Claims {
	changed := Claims{}
	for k, v := range c {
		changed[k] = v
	}
	if changed[claim] = value; value == nil {
		delete(changed, claim)
	}
	return changed
}

// ServiceAccount returns the claims of a Kubernetes service account token, valid for an hour.
func ServiceAccount(issuer, audience, namespace, name string) Claims {
	now := time.Now()
	return Claims{
		"iss": issuer, "aud": []string{audience}, "sub": "system:serviceaccount:" + namespace + ":" + name,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": "0b4f2b4e-6a5c-4f0e-9d5e-0f7f3d1f6c3a",
		"kubernetes.io": map[string]any{
			"namespace":      namespace,
			"node":           map[string]string{"name": "worker-1", "uid": "d5ae7b5b-9b5c-4f6e-8d0c-2a7a5b1f8c11"},
			"pod":            map[string]string{"name": name + "-7d9c5b", "uid": "a52d4a0c-2a8f-4f7e-9a53-c3b8a1b1c222"},
			"serviceaccount": map[string]string{"name": name, "uid": "11c3d9d0-5e9a-4d35-b0a7-b8f3c9e6d333"},
			"warnafter":      now.Add(55 * time.Minute).Unix(),
		},
	}
}

// Sign returns a signed JWT.
func (k *Key) Sign(c Claims) string {
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: jose.JSONWebKey{Key: k.Private, KeyID: k.ID}}, nil))
	return must(jwt.Signed(signer).Claims(map[string]any(c)).Serialize())
}

// Set returns the JWK Set of the keys.
func Set(keys ...*Key) []byte {
	var set jose.JSONWebKeySet
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Algorithm: string(k.algorithm), Use: "sig"})
	}
	return must(json.Marshal(set))
}

// Issuer serves its keys over HTTPS: through discovery, and at URL/keys.
type Issuer struct {
	// URL is the issuer's name. CAFile contains the CA certificate that clients need to verify it.
	URL, CAFile string

	mu      sync.Mutex // guards the fields below
	keys    []*Key
	down    bool
	hold    chan struct{}
	fetches int
}

// New starts an issuer with the given keys. It stops at the end of the test.
func New(t testing.TB, keys ...*Key) *Issuer {
	t.Helper()
	i := &Issuer{keys: keys}
	s := httptest.NewUnstartedServer(i)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that disconnect are expected
	s.StartTLS()
	t.Cleanup(s.Close)
	i.URL, i.CAFile = s.URL, filepath.Join(t.TempDir(), "issuer-ca.crt")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(i.CAFile, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// SetKeys replaces the keys.
func (i *Issuer) SetKeys(keys ...*Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = slices.Clone(keys)
}

// SetDown sets whether the issuer responds to all requests with an error.
func (i *Issuer) SetDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Hold blocks the issuer's responses until release is called.
func (i *Issuer) Hold() (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	hold := make(chan struct{})
	i.hold = hold
	return sync.OnceFunc(func() { close(hold) })
}

// Fetches returns the number of requests for the keys.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	keys, down, hold := i.keys, i.down, i.hold
	if r.URL.Path == "/keys" {
		i.fetches++
	}
	i.mu.Unlock()
	if hold != nil {
		<-hold
	}
	switch {
	case down:
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.URL.Path == "/keys":
		_, _ = w.Write(Set(keys...))
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	default:
		http.NotFound(w, r)
	}
}
