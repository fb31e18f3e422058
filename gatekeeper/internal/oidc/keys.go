package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How keys are loaded.
const (
	fileEvery    = time.Second     // a file is looked at; reading it again takes a change
	fetchEvery   = 5 * time.Minute // a key that the issuer has withdrawn counts no longer than that
	fetchTimeout = 5 * time.Second
	// cooldown is the least time between fetches for keys that are not known.
	cooldown = 10 * time.Second
	// maxWaiting is how many calls may wait for a fetch at once.
	maxWaiting = 64
	// maxVerified is how many JWTs of a set of keys are remembered: each call of a stream shows one, and a signature
	// takes time.
	maxVerified = 4096
	// minRSA is the least bits of a key of RSA.
	minRSA = 2048
)

// key is a public key of the issuer.
type key struct {
	id, algorithm string // either may be empty
	public        interface{ Equal(x crypto.PublicKey) bool }
}

// keySet are the keys of the issuer at one time.
type keySet struct {
	keys     []*key
	hash     [32]byte // of its text
	verified verified
}

// parseKeys reads a JWK Set. Keys that cannot be used are left out, because an issuer may have some for other purposes.
func parseKeys(text []byte) (*keySet, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, errors.New("is not a JWK Set, which is JSON with a list of keys")
	}
	set := &keySet{hash: sha256.Sum256(text)}
	for _, raw := range document.Keys {
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(raw); err != nil || k.Use != "" && k.Use != "sig" {
			continue
		}
		public, ok := publicKey(k.Key)
		if ok {
			set.keys = append(set.keys, &key{k.KeyID, k.Algorithm, public})
		}
	}
	if len(set.keys) == 0 {
		return nil, errors.New("has no public key of RSA with 2048 bits or more, ECDSA or Ed25519 for signatures")
	}
	return set, nil
}

// publicKey returns a key that may verify; false: it is symmetric, private, too short, or of another kind.
func publicKey(k any) (interface{ Equal(x crypto.PublicKey) bool }, bool) {
	switch k := k.(type) {
	case *rsa.PublicKey:
		return k, k.N.BitLen() >= minRSA
	case *ecdsa.PublicKey:
		return k, true
	case ed25519.PublicKey:
		return k, true
	}
	return nil, false
}

// find returns the key of that id for an algorithm, or nil. A JWT may leave the id out if there is only one key.
func (s *keySet) find(id, algorithm string) *key {
	if s == nil {
		return nil
	}
	for _, k := range s.keys {
		if (k.id == id || id == "" && len(s.keys) == 1) && (k.algorithm == "" || k.algorithm == algorithm) {
			return k
		}
	}
	return nil
}

func (s *keySet) has(k *key) bool {
	return slices.ContainsFunc(s.keys, func(other *key) bool { return other.id == k.id && other.public.Equal(k.public) })
}

// verified remembers logins by the hashes of their JWTs.
type verified struct {
	mu  sync.Mutex // guards all
	all map[[32]byte]*Login
}

func (v *verified) get(hash [32]byte) *Login {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.all[hash]
}

func (v *verified) put(hash [32]byte, l *Login) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil || len(v.all) >= maxVerified {
		v.all = make(map[[32]byte]*Login)
	}
	v.all[hash] = l
}

// Verifier verifies JWTs. Its methods may be called from any goroutine.
type Verifier struct {
	cfg      Config
	read     func(ctx context.Context) ([]byte, error) // returns nil if nothing has changed
	every    time.Duration
	cooldown time.Duration
	keys     atomic.Pointer[keySet] // the newest that could be used; nil: none yet

	mu      sync.Mutex // guards the others
	loading chan struct{}
	began   time.Time // the last load
	failed  error     // what the last load ended with
	waiting int

	open    context.Context //nolint:containedctx // ends with Close
	close   context.CancelFunc
	running sync.WaitGroup
}

// New returns a Verifier; Close it. A KeysFile that cannot be used is an error. Keys of the issuer are fetched from
// then on, whether or not it answers.
func New(cfg Config) (*Verifier, error) {
	if len(cfg.Claims) == 0 {
		cfg.Claims = DefaultClaims()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Verifier{cfg: cfg, every: fetchEvery, cooldown: cooldown}
	v.open, v.close = context.WithCancel(context.Background())
	if cfg.cooldown > 0 {
		v.cooldown = cfg.cooldown
	}
	if cfg.KeysFile != "" {
		v.read, v.every, v.cooldown = (&keysFile{path: cfg.KeysFile}).read, fileEvery, 0
		if v.load(); v.failed != nil {
			v.close()
			return nil, v.failed
		}
	} else {
		v.read = (&issuer{cfg.Issuer, cfg.KeysURL, cfg.CAFile}).read
		v.begin(0)
	}
	v.running.Go(v.keep)
	return v, nil
}

// Close ends what the Verifier does in the background. It can still be asked, by the keys that it has.
func (v *Verifier) Close() {
	v.mu.Lock() // no load begins afterwards
	v.close()
	v.mu.Unlock()
	v.running.Wait()
}

// Trouble is why the last load of keys failed; nil: it did not.
func (v *Verifier) Trouble() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}

// keep loads keys until Close.
func (v *Verifier) keep() {
	for {
		next := v.every
		if v.Trouble() != nil {
			next = min(next, max(v.cooldown, fileEvery))
		}
		select {
		case <-v.open.Done():
			return
		case <-time.After(next):
		}
		over, _ := v.begin(0)
		<-over
	}
}

// begin begins a load, unless one is in work or the last one began less than that long ago. The channel is closed when
// the load in work is over, or if there is none.
func (v *Verifier) begin(least time.Duration) (over <-chan struct{}, begun bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.loading != nil:
		return v.loading, false
	case v.open.Err() != nil || time.Since(v.began) < least:
		none := make(chan struct{})
		close(none)
		return none, false
	}
	v.began, v.loading = time.Now(), make(chan struct{})
	v.running.Go(v.load)
	return v.loading, true
}

// load loads the keys once.
func (v *Verifier) load() {
	text, err := v.read(v.open)
	set := v.keys.Load()
	var newer *keySet
	changed := err != nil || text != nil
	if err == nil && changed && (set == nil || set.hash != sha256.Sum256(text)) {
		if newer, err = parseKeys(text); err != nil {
			err = &SourceError{v.source(), err}
		}
	}
	if newer != nil {
		v.keys.Store(newer)
		v.cfg.Logger.Info("the keys of the issuer of JWTs were loaded", slog.String("from", v.source()), slog.Int("keys", len(newer.keys)))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil && v.open.Err() == nil && (v.failed == nil || v.failed.Error() != err.Error()) {
		v.cfg.Logger.Warn("the keys of the issuer of JWTs cannot be loaded; those that are known stay in use", slog.String("error", err.Error()))
	}
	if changed {
		v.failed = err
	}
	if v.loading != nil {
		close(v.loading)
		v.loading = nil
	}
}

// source is where keys come from.
func (v *Verifier) source() string {
	switch {
	case v.cfg.KeysFile != "":
		return v.cfg.KeysFile
	case v.cfg.KeysURL != "":
		return v.cfg.KeysURL
	}
	return v.cfg.Issuer
}

// find returns the key of that id, and the set that has it. It loads the keys again if it is not known.
func (v *Verifier) find(ctx context.Context, id, algorithm string) (*key, *keySet, error) {
	set := v.keys.Load()
	if k := set.find(id, algorithm); k != nil {
		return k, set, nil
	}
	asked := false
	for range 2 { // a load that was in work may have asked before the key was there
		begun, err := v.wait(ctx)
		if err != nil {
			return nil, nil, err
		}
		asked = begun
		set = v.keys.Load()
		if k := set.find(id, algorithm); k != nil {
			return k, set, nil
		}
		if begun {
			break
		}
	}
	if trouble := v.Trouble(); trouble != nil {
		return nil, nil, &UnavailableError{trouble}
	}
	if set == nil {
		return nil, nil, &UnavailableError{errors.New("they were not fetched yet")}
	}
	if !asked {
		return nil, nil, &UnavailableError{errors.New("they were fetched just before this JWT came, and are not fetched again so soon")}
	}
	return nil, nil, refused("the issuer has no key with the id %s and the algorithm %s of the JWT", quoted(id), quoted(algorithm))
}

// wait waits for a load that is in work, or that it begins. It begins none if the last one is younger than the
// cooldown.
func (v *Verifier) wait(ctx context.Context) (begun bool, err error) {
	over, begun := v.begin(v.cooldown)
	v.mu.Lock()
	v.waiting++
	many := v.waiting > maxWaiting
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.waiting--
	}()
	if many {
		return begun, &UnavailableError{errors.New("too many calls wait for them")}
	}
	select {
	case <-over:
		return begun, nil
	case <-ctx.Done():
		return begun, ctx.Err()
	}
}
