package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/oidctest"
)

// newVerifier returns a Verifier that is closed at the end of the test.
func newVerifier(t *testing.T, cfg Config) *Verifier {
	t.Helper()
	v, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// newFetchingVerifier returns a Verifier that fetches keys by discovery and has no cooldown for unknown keys.
func newFetchingVerifier(t *testing.T, i *oidctest.Issuer) *Verifier {
	t.Helper()
	return newVerifier(t, Config{Issuer: i.URL, Audience: "gatekeeper", CAFile: i.CAFile, cooldown: 1})
}

// writeKeys writes a file containing keys and returns its path.
func writeKeys(t *testing.T, keys ...*oidctest.Key) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	replace(t, path, oidctest.Set(keys...))
	return path
}

func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// mustRefuse checks that a JWT is refused with a message that does not contain the JWT, and returns the message.
func mustRefuse(t *testing.T, v *Verifier, token string) string {
	t.Helper()
	l, err := v.Verify(t.Context(), token)
	e, ok := errors.AsType[*RefusedError](err)
	if !ok {
		t.Fatalf("Verify() = %v, %v, want a RefusedError", l, err)
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 8 && strings.Contains(e.Why, part[:8]) {
			t.Errorf("the refusal contains part of the JWT: %s", e.Why)
		}
	}
	return e.Why
}

func mustVerify(t *testing.T, v *Verifier, token string) *Login {
	t.Helper()
	l, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

const kubernetes = "https://kubernetes.default.svc.cluster.local"

func TestVerify_ServiceAccountToken_ProvesItsSubject(t *testing.T) {
	t.Parallel()
	key := oidctest.NewRSAKey("k1")
	v := newVerifier(t, Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: writeKeys(t, key)})
	token := key.Sign(oidctest.ServiceAccount(kubernetes, "gatekeeper", "jobs", "reports"))
	l := mustVerify(t, v, token)
	want := "oidc:sub=system:serviceaccount:jobs:reports"
	if l.String() != want || !slices.Equal(l.Subjects, []string{want}) {
		t.Errorf("Verify() = %s with subjects %q, want %s", l, l.Subjects, want)
	}
	if cached := mustVerify(t, v, token); cached != l {
		t.Error("the second Verify() did not return the cached login")
	}
	if now := time.Now(); l.Ended(now) != "" || !strings.Contains(l.Ended(now.Add(time.Hour)), "expired at") {
		t.Errorf("Ended() = %q now and %q in an hour, want an expired JWT only in the second case", l.Ended(now), l.Ended(now.Add(time.Hour)))
	}
}

func TestVerify_HostileToken_IsRefused(t *testing.T) {
	t.Parallel()
	key, other := oidctest.NewRSAKey("k1"), oidctest.NewRSAKey("k1")
	v := newVerifier(t, Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: writeKeys(t, key, oidctest.NewKey("k2"))})
	good := oidctest.ServiceAccount(kubernetes, "gatekeeper", "jobs", "reports")
	unixIn := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	signed := func(claim string, value any) string { return key.Sign(good.With(claim, value)) }
	parts := strings.Split(key.Sign(good), ".")
	der, err := x509.MarshalPKIXPublicKey(key.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	hs256 := func(secret []byte) string {
		text := encode(map[string]string{"alg": "HS256", "kid": "k1"}) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	unknown, nameless := oidctest.NewKey("k3"), oidctest.NewKey("")
	for what, c := range map[string]struct{ token, want string }{
		"another issuer":           {signed("iss", "https://evil.example.com"), `from issuer "https://evil.example.com"`},
		"no issuer":                {signed("iss", nil), `from issuer ""`},
		"another audience":         {signed("aud", []string{"vault"}), `for audience "vault"`},
		"no audience":              {signed("aud", nil), `for audience ""`},
		"expired":                  {signed("exp", unixIn(-time.Second)), "expired at"},
		"without an expiry":        {signed("exp", nil), "has no expiry"},
		"not yet valid":            {signed("nbf", unixIn(time.Minute)), "not valid before"},
		"issued in the future":     {signed("iat", unixIn(time.Minute)), "issued in the future"},
		"no subject":               {signed("sub", nil), "invalid sub"},
		"a subject with two lines": {signed("sub", "ann\nlevel=INFO"), "invalid sub"},
		"a list of subjects":       {signed("sub", []string{"ann"}), "invalid claims"},
		"an issuer with two lines": {signed("iss", "a\nb"), `"a\nb"`},
		"a long issuer":            {signed("iss", strings.Repeat("x", 4000)), `xxx..."`},
		"signed by another key":    {other.Sign(good), "was not signed"},
		"unknown key":              {unknown.Sign(good), `no key with the id "k3"`},
		"key for another use":      {strings.Join([]string{encode(map[string]string{"alg": "ES256", "kid": "k1"}), parts[1], parts[2]}, "."), "no key with the id"},
		"without a key id":         {nameless.Sign(good), `no key with the id ""`},
		"tampered":                 {parts[0] + "." + encode(good.With("sub", "system:serviceaccount:kube-system:admin")) + "." + parts[2], "was not signed"},
		"truncated":                {parts[0] + "." + parts[1] + ".", "was not signed"},
		"none":                     {encode(map[string]string{"alg": "none"}) + "." + parts[1] + ".", "neither a bearer token"},
		"None":                     {encode(map[string]string{"alg": "None", "kid": "k1"}) + "." + parts[1] + "." + parts[2], "neither a bearer token"},
		"HS256 with the PEM":       {hs256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "neither a bearer token"},
		"HS256 with the DER":       {hs256(der), "neither a bearer token"},
		"not a JWT":                {"eyJhbGciOi", "neither a bearer token"},
		"empty":                    {"", "neither a bearer token"},
		"JSON serialization":       {`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, "neither a bearer token"},
		"huge":                     {signed("pad", strings.Repeat("x", MaxToken)), "larger than 8192 bytes"},
	} {
		if got := mustRefuse(t, v, c.token); !strings.Contains(got, c.want) {
			t.Errorf("Verify(%s) = %q, want %q", what, got, c.want)
		}
	}
	if l := mustVerify(t, v, signed("nbf", unixIn(10*time.Second))); l == nil {
		t.Error("Verify() tolerates no clock skew")
	}
	mustVerify(t, v, signed("aud", "gatekeeper"))
}

func TestVerify_Claims_ProveSubjectsInOrder(t *testing.T) {
	t.Parallel()
	key := oidctest.NewKey("")
	good := oidctest.ServiceAccount(kubernetes, "gatekeeper", "jobs", "reports").With("sub", "ann").With("email", "ann@example.com").
		With("groups", []any{"operators", 7, "a\nb", "editors", ""})
	path := writeKeys(t, key)
	for what, c := range map[string]struct {
		claims []string
		token  oidctest.Claims
		want   []string
	}{
		"by default":                 {nil, good, []string{"oidc:sub=ann", "oidc:groups=operators", "oidc:groups=editors"}},
		"a verified email":           {nil, good.With("email_verified", true), []string{"oidc:sub=ann", "oidc:email=ann@example.com", "oidc:groups=operators", "oidc:groups=editors"}},
		"email_verified as a string": {[]string{"email"}, good.With("email_verified", "true"), nil},
		"one group as a string":      {[]string{"groups"}, good.With("groups", "operators"), []string{"oidc:groups=operators"}},
		"a vendor-specific claim":    {[]string{"https://example.com/role"}, good.With("https://example.com/role", "ops"), []string{"oidc:https://example.com/role=ops"}},
		"an object":                  {[]string{"kubernetes.io"}, good, nil},
	} {
		v := newVerifier(t, Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: path, Claims: c.claims})
		if l := mustVerify(t, v, key.Sign(c.token)); !slices.Equal(l.Subjects, c.want) || l.String() != "oidc:sub=ann" {
			t.Errorf("%s: Verify() = %s with subjects %q, want %q", what, l, l.Subjects, c.want)
		}
	}
	for claim, want := range map[string]bool{"sub": true, "https://example.com/role": true, "": false, "a=b": false, "iss": false, "aud": false, "a\nb": false} {
		if ValidClaim(claim) != want {
			t.Errorf("ValidClaim(%q) = %t, want %t", claim, !want, want)
		}
	}
}

func TestVerify_NewKey_IsFetchedAndOldKeysAreKept(t *testing.T) {
	t.Parallel()
	first, second := oidctest.NewRSAKey("k1"), oidctest.NewKey("k2")
	i := oidctest.New(t, first)
	v := newFetchingVerifier(t, i)
	claims := oidctest.ServiceAccount(i.URL, "gatekeeper", "jobs", "reports")
	mustVerify(t, v, first.Sign(claims))
	i.SetKeys(first, second)
	mustVerify(t, v, second.Sign(claims))

	i.SetDown(true)
	mustVerify(t, v, first.Sign(claims.With("jti", "another")))
	_, err := v.Verify(t.Context(), oidctest.NewKey("k3").Sign(claims))
	if e, ok := errors.AsType[*UnavailableError](err); !ok || !strings.Contains(e.Error(), "503 Service Unavailable") {
		t.Errorf("Verify() with an unknown key while the issuer is down = %v, want an UnavailableError with the issuer's status", err)
	}
	if v.LastError() == nil {
		t.Error("LastError() = nil while the issuer is down")
	}
	i.SetDown(false)
	mustRefuse(t, v, oidctest.NewKey("k3").Sign(claims))
}

func TestVerify_WithdrawnKey_EndsLogins(t *testing.T) {
	t.Parallel()
	first, second := oidctest.NewKey("k1"), oidctest.NewKey("k2")
	i := oidctest.New(t, first, second)
	v := newFetchingVerifier(t, i)
	claims := oidctest.ServiceAccount(i.URL, "gatekeeper", "jobs", "reports")
	token := first.Sign(claims)
	gone, kept := mustVerify(t, v, token), mustVerify(t, v, second.Sign(claims))
	i.SetKeys(second, oidctest.NewKey("k1")) // a new key with the same id must not revive the login
	mustRefuse(t, v, oidctest.NewKey("k3").Sign(claims))
	if now := time.Now(); !strings.Contains(gone.Ended(now), "withdrawn") || kept.Ended(now) != "" {
		t.Errorf("Ended() = %q with the withdrawn key and %q with the other, want only the first to have ended", gone.Ended(now), kept.Ended(now))
	}
	if got := mustRefuse(t, v, token); !strings.Contains(got, "was not signed") {
		t.Errorf("Verify() with a withdrawn key = %s, want a signature error", got)
	}
}

// Unauthenticated callers can send any key id, so the server must not fetch keys for every unknown one.
func TestVerify_UnknownKeys_FetchOncePerCooldown(t *testing.T) {
	t.Parallel()
	key := oidctest.NewKey("k1")
	i := oidctest.New(t, key)
	v := newVerifier(t, Config{Issuer: i.URL, Audience: "gatekeeper", CAFile: i.CAFile, KeysURL: i.URL + "/keys", cooldown: time.Hour})
	claims := oidctest.ServiceAccount(i.URL, "gatekeeper", "jobs", "reports")
	mustVerify(t, v, key.Sign(claims))
	for range 50 { // the issuer may have added such a key since the last fetch
		if _, err := v.Verify(t.Context(), oidctest.NewKey("guess").Sign(claims)); !errors.As(err, new(*UnavailableError)) {
			t.Fatalf("Verify() = %v, want an UnavailableError", err)
		}
	}
	if n := i.Fetches(); n != 1 {
		t.Errorf("Fetches() = %d, want 1", n)
	}
	// A JWT that could never be valid does not cause a fetch either.
	noCooldown := newFetchingVerifier(t, i)
	mustVerify(t, noCooldown, key.Sign(claims))
	before := i.Fetches()
	for _, bad := range []oidctest.Claims{claims.With("iss", "x"), claims.With("aud", "x"), claims.With("exp", 1)} {
		mustRefuse(t, noCooldown, oidctest.NewKey("guess").Sign(bad))
	}
	if n := i.Fetches() - before; n != 0 {
		t.Errorf("%d fetches for JWTs that can be refused without a key, want 0", n)
	}
}

func TestVerify_WhileIssuerHangs_OnlyUnknownKeysWait(t *testing.T) {
	t.Parallel()
	key := oidctest.NewKey("k1")
	i := oidctest.New(t, key)
	v := newFetchingVerifier(t, i)
	claims := oidctest.ServiceAccount(i.URL, "gatekeeper", "jobs", "reports")
	mustVerify(t, v, key.Sign(claims))
	release := i.Hold()
	defer release()
	next := oidctest.NewKey("k2")
	i.SetKeys(key, next)
	waited := make(chan error)
	go func() {
		_, err := v.Verify(context.Background(), next.Sign(claims))
		waited <- err
	}()
	addWaiting := func(n int) (waiting int) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.waiting += n
		return v.waiting
	}
	for addWaiting(0) == 0 {
		runtime.Gosched()
	}
	mustVerify(t, v, key.Sign(claims.With("jti", "another")))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(gone, oidctest.NewKey("k3").Sign(claims)); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify() with a cancelled context = %v, want context.Canceled", err)
	}
	addWaiting(maxWaiting)
	if _, err := v.Verify(t.Context(), oidctest.NewKey("k3").Sign(claims)); !strings.Contains(errorText(err), "too many calls") {
		t.Errorf("Verify() with more than maxWaiting waiting calls = %v, want an error about too many calls", err)
	}
	addWaiting(-maxWaiting)
	release()
	if err := <-waited; err != nil {
		t.Errorf("waiting Verify() = %v, want nil", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestVerify_IssuerDownAtStart_ReturnsUnavailable(t *testing.T) {
	t.Parallel()
	key := oidctest.NewKey("k1")
	i := oidctest.New(t, key)
	i.SetDown(true)
	v := newFetchingVerifier(t, i)
	token := key.Sign(oidctest.ServiceAccount(i.URL, "gatekeeper", "jobs", "reports"))
	if _, err := v.Verify(t.Context(), token); !strings.Contains(errorText(err), "cannot be fetched") {
		t.Errorf("Verify() while the issuer is down = %v, want an error that says that the keys cannot be fetched", err)
	}
	i.SetDown(false)
	mustVerify(t, v, token)
}

func TestVerify_KeysFileReplaced_TakesEffectImmediately(t *testing.T) {
	t.Parallel()
	first, second := oidctest.NewKey("k1"), oidctest.NewKey("k2")
	path := writeKeys(t, first)
	v := newVerifier(t, Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: path})
	claims := oidctest.ServiceAccount(kubernetes, "gatekeeper", "jobs", "reports")
	mustVerify(t, v, first.Sign(claims))
	mustRefuse(t, v, second.Sign(claims))
	for what, bad := range map[string]string{"truncated JSON": `{"keys":[`, "no key": `{"keys":[]}`, "a private key": privateKeySet(second)} {
		replace(t, path, []byte(bad))
		if _, err := v.Verify(t.Context(), second.Sign(claims)); !strings.Contains(errorText(err), path) {
			t.Errorf("Verify() with %s in the file = %v, want an error that names the file", what, err)
		}
		mustVerify(t, v, first.Sign(claims))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), second.Sign(claims)); !strings.Contains(errorText(err), "no such file") {
		t.Errorf("Verify() after the file was removed = %v, want an error that the file does not exist", err)
	}
	replace(t, path, oidctest.Set(first, second))
	mustVerify(t, v, second.Sign(claims))
	if v.LastError() != nil {
		t.Error(v.LastError())
	}
}

// privateKeySet returns a JWK Set with a private key.
func privateKeySet(k *oidctest.Key) string {
	return strings.Replace(string(oidctest.Set(k)), `"kty"`, `"d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE","kty"`, 1)
}

func TestNew_UnusableKeysFile_IsReported(t *testing.T) {
	t.Parallel()
	path := writeKeys(t)
	for _, text := range []string{`{"keys":[]}`, "<html>", `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"k1"}]}`, `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`} {
		replace(t, path, []byte(text))
		_, err := New(Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: path})
		if e, ok := errors.AsType[*SourceError](err); !ok || e.From != path {
			t.Errorf("New() with keys %s = %v, want a SourceError that names the file", text, err)
		}
	}
}

// The issuer's responses are checked, because its URL may belong to another issuer.
func TestFetch_ResponseFromAnotherIssuer_IsRefused(t *testing.T) {
	t.Parallel()
	key := oidctest.NewKey("k1")
	i := oidctest.New(t, key)
	for what, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"another name":        {Config{Issuer: i.URL + "/", CAFile: i.CAFile}, "belongs to issuer"},
		"another certificate": {Config{Issuer: i.URL}, "certificate"},
		"not found":           {Config{Issuer: i.URL, CAFile: i.CAFile, KeysURL: i.URL + "/none"}, "404 Not Found"},
		"another document":    {Config{Issuer: i.URL, CAFile: i.CAFile, KeysURL: i.URL + "/.well-known/openid-configuration"}, "no public key"},
		"no such file":        {Config{Issuer: i.URL, CAFile: "no.crt"}, "no.crt"},
	} {
		c.cfg.Audience = "gatekeeper"
		v := newVerifier(t, c.cfg)
		_, err := v.Verify(t.Context(), key.Sign(oidctest.ServiceAccount(c.cfg.Issuer, "gatekeeper", "jobs", "reports")))
		if !strings.Contains(errorText(err), c.want) {
			t.Errorf("%s: Verify() = %v, want %q", what, err, c.want)
		}
	}
}

// Verify must accept only JWTs that are signed with the key.
func FuzzVerify(f *testing.F) {
	key := oidctest.NewKey("k1")
	path := filepath.Join(f.TempDir(), "jwks.json")
	if err := os.WriteFile(path, oidctest.Set(key), 0o600); err != nil {
		f.Fatal(err)
	}
	v, err := New(Config{Issuer: kubernetes, Audience: "gatekeeper", KeysFile: path})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(v.Close)
	good := key.Sign(oidctest.ServiceAccount(kubernetes, "gatekeeper", "jobs", "reports"))
	parts := strings.Split(good, ".")
	for _, seed := range []string{good, parts[0] + ".." + parts[2], parts[0] + "." + parts[1] + ".", "e30.e30.", "..", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		l, err := v.Verify(t.Context(), token) // the last character of the signature has unused bits
		if _, refused := errors.AsType[*RefusedError](err); !refused && (err != nil || token[:len(token)-1] != good[:len(good)-1]) {
			t.Errorf("Verify() = %v, %v, want a RefusedError for a modified JWT", l, err)
		}
	})
}
