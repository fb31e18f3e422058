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

// Timing and limits for loading keys.
const (
	filePollInterval = time.Second     // how often the file is checked; it is reread only if it has changed
	fetchInterval    = 5 * time.Minute // limits how long a key that the issuer has withdrawn remains accepted
	fetchTimeout     = 5 * time.Second
	// cooldown is the minimum time between fetches caused by unknown keys.
	cooldown = 10 * time.Second
	// maxWaiting limits how many calls wait for a fetch at the same time.
	maxWaiting = 64
	// maxVerified limits the cache of verified JWTs per key set. Every call carries its JWT, and verifying a signature
	// takes time.
	maxVerified = 4096
	// minRSA is the minimum size of an RSA key in bits.
	minRSA = 2048
)

// key is one of the issuer's public keys.
type key struct {
	id, algorithm string // either may be empty
	public        interface{ Equal(x crypto.PublicKey) bool }
}

// keySet is the set of the issuer's keys at one point in time.
type keySet struct {
	keys     []*key
	hash     [32]byte // of the JWK Set's text
	verified verified
}

// parseKeys parses a JWK Set. It skips unusable keys, because an issuer may publish keys for other purposes.
func parseKeys(text []byte) (*keySet, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, errors.New("is not a JWK Set (JSON with a list of keys)")
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
		return nil, errors.New("has no public key for verifying signatures: RSA with at least 2048 bits, ECDSA or Ed25519")
	}
	return set, nil
}

// publicKey returns a key that can verify signatures. It returns false for a symmetric or private key, an RSA key that
// is too short, and any other kind of key.
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

// find returns the key with the given id for an algorithm, or nil. A JWT may omit the id if there is only one key.
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

func (s *keySet) contains(k *key) bool {
	return slices.ContainsFunc(s.keys, func(other *key) bool { return other.id == k.id && other.public.Equal(k.public) })
}

// verified caches logins by the hash of their JWT.
type verified struct {
	mu  sync.Mutex // guards the map
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

// Verifier verifies JWTs. It is safe for concurrent use.
type Verifier struct {
	cfg      Config
	read     func(ctx context.Context) ([]byte, error) // returns nil if nothing has changed
	interval time.Duration
	cooldown time.Duration
	keys     atomic.Pointer[keySet] // the newest usable set; nil before the first

	mu        sync.Mutex // guards loading, lastStart, lastErr and waiting
	loading   chan struct{}
	lastStart time.Time // start of the last load
	lastErr   error     // error of the last load
	waiting   int

	lifetime context.Context //nolint:containedctx // cancelled by Close
	close    context.CancelFunc
	running  sync.WaitGroup
}

// New returns a Verifier, which the caller must Close. An unusable KeysFile is an error. Without KeysFile, New starts
// fetching keys but does not wait for the issuer.
func New(cfg Config) (*Verifier, error) {
	if len(cfg.Claims) == 0 {
		cfg.Claims = DefaultClaims()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Verifier{cfg: cfg, interval: fetchInterval, cooldown: cooldown}
	v.lifetime, v.close = context.WithCancel(context.Background())
	if cfg.cooldown > 0 {
		v.cooldown = cfg.cooldown
	}
	if cfg.KeysFile != "" {
		v.read, v.interval, v.cooldown = (&keysFile{path: cfg.KeysFile}).read, filePollInterval, 0
		if v.load(); v.lastErr != nil {
			v.close()
			return nil, v.lastErr
		}
	} else {
		v.read = (&issuer{cfg.Issuer, cfg.KeysURL, cfg.CAFile}).read
		v.startLoad(0)
	}
	v.running.Go(v.refreshLoop)
	return v, nil
}

// Close stops the background work. The Verifier can still verify JWTs with the keys that it has.
func (v *Verifier) Close() {
	v.mu.Lock() // no load starts afterwards
	v.close()
	v.mu.Unlock()
	v.running.Wait()
}

// LastError returns the error of the last load of keys, or nil if it succeeded.
func (v *Verifier) LastError() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lastErr
}

// refreshLoop loads keys until Close.
func (v *Verifier) refreshLoop() {
	for {
		next := v.interval
		if v.LastError() != nil {
			next = min(next, max(v.cooldown, filePollInterval))
		}
		select {
		case <-v.lifetime.Done():
			return
		case <-time.After(next):
		}
		done, _ := v.startLoad(0)
		<-done
	}
}

// startLoad starts a load, unless one is in progress or the last one started less than the given duration ago. The
// returned channel is closed when the load in progress ends, or immediately if there is none.
func (v *Verifier) startLoad(minAge time.Duration) (done <-chan struct{}, started bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.loading != nil:
		return v.loading, false
	case v.lifetime.Err() != nil || time.Since(v.lastStart) < minAge:
		closed := make(chan struct{})
		close(closed)
		return closed, false
	}
	v.lastStart, v.loading = time.Now(), make(chan struct{})
	v.running.Go(v.load)
	return v.loading, true
}

// load loads the keys once.
func (v *Verifier) load() {
	text, err := v.read(v.lifetime)
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
		v.cfg.Logger.Info("loaded the JWT issuer's keys", slog.String("from", v.source()), slog.Int("keys", len(newer.keys)))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil && v.lifetime.Err() == nil && (v.lastErr == nil || v.lastErr.Error() != err.Error()) {
		v.cfg.Logger.Warn("cannot load the JWT issuer's keys; any keys already loaded remain in use", slog.String("error", err.Error()))
	}
	if changed {
		v.lastErr = err
	}
	if v.loading != nil {
		close(v.loading)
		v.loading = nil
	}
}

// source returns the file or URL of the keys.
func (v *Verifier) source() string {
	switch {
	case v.cfg.KeysFile != "":
		return v.cfg.KeysFile
	case v.cfg.KeysURL != "":
		return v.cfg.KeysURL
	}
	return v.cfg.Issuer
}

// find returns the key with the given id and the set that contains it. If the key is unknown, find reloads the keys.
func (v *Verifier) find(ctx context.Context, id, algorithm string) (*key, *keySet, error) {
	set := v.keys.Load()
	if k := set.find(id, algorithm); k != nil {
		return k, set, nil
	}
	fetched := false
	for range 2 { // a load that was already in progress may have started before the key existed
		started, err := v.wait(ctx)
		if err != nil {
			return nil, nil, err
		}
		fetched = started
		set = v.keys.Load()
		if k := set.find(id, algorithm); k != nil {
			return k, set, nil
		}
		if started {
			break
		}
	}
	if lastErr := v.LastError(); lastErr != nil {
		return nil, nil, &UnavailableError{lastErr}
	}
	if set == nil {
		return nil, nil, &UnavailableError{errors.New("the keys have not been fetched yet")}
	}
	if !fetched {
		return nil, nil, &UnavailableError{errors.New("the keys were fetched just before this JWT arrived and cannot be fetched again yet")}
	}
	return nil, nil, refused("the issuer has no key with the id %s and the algorithm %s named in the JWT", quoted(id), quoted(algorithm))
}

// wait waits for the load in progress, or starts one and waits for it. It does not start one if the last load started
// less than the cooldown ago.
func (v *Verifier) wait(ctx context.Context) (started bool, err error) {
	done, started := v.startLoad(v.cooldown)
	v.mu.Lock()
	v.waiting++
	tooMany := v.waiting > maxWaiting
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.waiting--
	}()
	if tooMany {
		return started, &UnavailableError{errors.New("too many calls are waiting for the keys")}
	}
	select {
	case <-done:
		return started, nil
	case <-ctx.Done():
		return started, ctx.Err()
	}
}
