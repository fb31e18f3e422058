package gatekeeper

import (
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// Defaults of a Config.
const (
	DefaultID           = "gk1"
	DefaultClusterName  = "gatekeeper"
	DefaultAPIAddress   = "127.0.0.1:7420"
	DefaultPeerAddress  = "127.0.0.1:7421"
	DefaultHTTPAddress  = "127.0.0.1:7422"
	DefaultAdminAddress = "127.0.0.1:7423"
	DefaultMaxCalls     = admission.DefaultWorking
	DefaultAdmin        = access.CertSubject + "admin"
	// AuditOff is the AuditLog of a server that keeps none.
	AuditOff = "off"
)

// Config is what a server is to be. Only DataDir is required: with nothing else it is a single server on loopback.
type Config struct {
	// ID names this member of its cluster: 1 to 64 of the characters A-Z a-z 0-9 . _ -. Once used in a cluster it is
	// never taken by another member. Default DefaultID for a single server; several servers each need their own.
	ID string
	// ClusterName keeps clusters apart by name: Members with different ones start no cluster together, and a data
	// folder is opened only with the one that it was made with. Default DefaultClusterName.
	ClusterName string
	// DataDir is the folder of the log, the snapshots and the cluster's identity; it is made when it is not there. One
	// server at a time uses it.
	DataDir string
	// LogStore is how a new DataDir keeps its log. A folder keeps its log store for life, so one that exists must have
	// it. Default: that of the folder, LogStoreBolt for a new one.
	LogStore LogStore
	// Memory is used instead of DataDir. It is for tests, and for a server alone: see Memory.
	Memory *Memory

	// APIAddress is where clients are served, host:port; port 0 takes a free one. Default DefaultAPIAddress.
	APIAddress string
	// PeerAddress is where the other members are served. Default: this member's address in Members, else
	// DefaultPeerAddress.
	PeerAddress string
	// AdminAddress is where metrics, health and profiles are served: on loopback by plain HTTP, beyond by TLS as the
	// API, to clients that show a certificate of TLS.CAFile. Empty: nowhere.
	AdminAddress string
	// HTTPAddress is where the dashboard and the JSON API are served: on loopback by plain HTTP, beyond by TLS as the
	// API. Empty: nowhere. DefaultHTTPAddress is what gatekeeperd takes.
	HTTPAddress string
	// AdvertiseAPI and AdvertisePeer are the addresses at which others reach this server; names are resolved again at
	// each dial. Default: where it listens (for AdvertisePeer: its address in Members), so they must be given when that
	// is every address of the machine, as with 0.0.0.0.
	AdvertiseAPI, AdvertisePeer string
	// Listeners are used instead of listening on the addresses above. The server closes them.
	Listeners Listeners

	// Members are the first members of a new cluster, this one among them: the same on each. All of them must run, with
	// empty data folders, for the cluster to start. Empty, with Join empty too: a new cluster of this server alone. A
	// data folder that belongs to a cluster already is started from; then Members say nothing.
	Members []Member
	// Join are API addresses of servers of an existing cluster, which are asked to take this server in, and, as long as
	// it has no vote, each new leader again to give it one. Not with Members.
	Join []string
	// NonVoter has a server that joins follow without a vote: it serves clients and never leads. Only with Join. A
	// member that has a vote keeps it and is refused; remove it first.
	NonVoter bool
	// Profile says how soon a dead leader is replaced. Default ProfileDefault; in Memory a server leads at once.
	Profile Profile

	// TLS protects the API when it has a certificate. With authorities, clients must show a certificate of theirs.
	TLS TLS
	// PeerTLS protects the connections between members, and both sides must show a certificate with the extended key
	// usages serverAuth and clientAuth. Those of clients must lack serverAuth, or PeerTLS needs a separate CA: each
	// certificate of CA with serverAuth opens the peer port. A server shows the certificate to the API of other servers
	// too, which take it as that of a member. The zero value is the same as TLS.
	PeerTLS TLS
	// BearerTokens lets clients in that show a bearer token instead of a certificate. It needs TLS, else tokens could
	// be read on their way.
	BearerTokens bool
	// OIDC lets clients in that show a JWT of its issuer instead of a certificate. It needs TLS, as BearerTokens does.
	OIDC OIDC
	// Admin is the subject that administers a new cluster: cert:NAME for a name in a client certificate, a SPIFFE id,
	// or oidc:CLAIM=VALUE. It has an effect only until the cluster has bindings. Default DefaultAdmin, whose
	// certificate `gkctl cert init` makes.
	//
	// Callers are authenticated where TLS has a CAFile, with BearerTokens, or with OIDC, unless Insecure is set. The
	// servers of a cluster must agree.
	Admin string
	// AuditLog is the file to which refusals and changes are written; files that were rotated out stand beside it.
	// AuditOff keeps none. Default: audit/audit.log in DataDir where callers are authenticated, else none.
	AuditLog string
	// Insecure lets the server start although other machines reach a port of it that does not authenticate: the API or
	// the peer port without TLS and authorities, or the admin port. Callers that reach such a port can change
	// everything, or read metrics and take profiles.
	Insecure bool

	// MaxCalls is how many calls of clients this server works on at once, from 1 to 100 000; what comes beyond is
	// refused at once, with RESOURCE_EXHAUSTED and when to try again. What keeps or ends live permits is never refused,
	// and what waits in a queue is not counted. Other limits follow from it; see docs/reliability.md. Default
	// DefaultMaxCalls.
	MaxCalls int

	// Definitions are declared when this server becomes the leader: what exists is left as it is, and what was deleted
	// stays deleted.
	Definitions []*gatekeeperv1.Definition
	// DumpInterval is how often the state is written to the log. 0: never.
	DumpInterval time.Duration
	// Logger takes what the server has to say. Default slog.Default.
	Logger *slog.Logger
	// Registerer takes the server's metrics too, in addition to its own registry, which the admin port shows. Optional.
	Registerer prometheus.Registerer

	// wallClock and clocksEvery are for tests; nil and 0: time.Now and the constant.
	wallClock   func() time.Time
	clocksEvery time.Duration
}

// Listeners are sockets that are open already: from a supervisor, or in tests.
type Listeners struct{ API, Peer, HTTP, Admin net.Listener }

// Member is one of the first members of a new cluster.
type Member struct {
	ID string
	// PeerAddress is where the other members reach it.
	PeerAddress string
}

// Profile is a set of Raft's timeouts. A leader steps down when it reaches no majority for as long as the heartbeat
// timeout. Disks that stall do not make it do so: changes wait for them, and are refused after as long when it is the
// leader's own.
type Profile string

const (
	// ProfileDefault replaces a dead leader in one to two seconds, as a rule: heartbeat, election and lease timeouts of
	// 800 ms.
	ProfileDefault Profile = "default"
	// ProfileFast replaces it in half of that: timeouts of 400 ms, for networks and machines
	// that never stand still that long.
	ProfileFast Profile = "fast"
)

// LogStore is a way to keep the log on disk. Servers of one cluster may differ in it.
type LogStore string

const (
	// LogStoreBolt keeps it in one file, with everything else that a member must not forget.
	LogStoreBolt LogStore = "bolt"
	// LogStoreWAL keeps it in files to which is only ever appended.
	LogStoreWAL LogStore = "wal"
)

// TLS names PEM files. The zero value means no TLS.
type TLS struct {
	// CertFile and KeyFile are this server's certificate, with its chain, and private key.
	CertFile, KeyFile string
	// CAFile has the authorities by which others are verified. API: certificates that clients present. Peers: every
	// certificate.
	CAFile string
}

// OIDC names the issuer of JWTs that clients may show. The zero value takes none. With neither KeysFile nor KeysURL the
// keys are found by OpenID Connect Discovery from the issuer, which then is an address with https.
type OIDC struct {
	// Issuer and Audience are what the claims iss and aud of a JWT must have. Both are required: a JWT for another
	// audience is refused, because that audience could use it here.
	Issuer, Audience string
	// KeysFile is a JWK Set with the public keys of the issuer. It is read again when it has changed.
	KeysFile string
	// KeysURL is where the JWK Set is fetched, by HTTPS. Keys that were fetched are used while the issuer is down.
	KeysURL string
	// CAFile has the authorities that verify the servers from which is fetched. Default: those of the system.
	CAFile string
	// Claims are those that prove subjects, oidc:CLAIM=VALUE, and decide in this order: the first one that a binding
	// names is the caller's. A claim with a list proves one subject for each value; a caller with two bindings by one
	// claim is refused. An email counts only if email_verified is true. Default: sub, email, groups.
	Claims []string
}

// isZero reports whether no JWT is taken.
func (o *OIDC) isZero() bool { return o.Issuer == "" }

// withDefaults fills in what follows from the configuration alone.
func (c Config) withDefaults() Config {
	alone := len(c.Members) == 0 && len(c.Join) == 0
	if c.ID == "" && alone {
		c.ID = DefaultID
	}
	setDefault(&c.ClusterName, DefaultClusterName)
	setDefault(&c.MaxCalls, DefaultMaxCalls)
	setDefault(&c.Admin, DefaultAdmin)
	setDefault(&c.clocksEvery, clocksEvery)
	for _, m := range c.Members {
		if m.ID == c.ID {
			setDefault(&c.AdvertisePeer, m.PeerAddress)
			setDefault(&c.PeerAddress, m.PeerAddress)
		}
	}
	setDefault(&c.APIAddress, DefaultAPIAddress)
	setDefault(&c.PeerAddress, DefaultPeerAddress)
	if c.Memory != nil {
		setDefault(&c.Profile, profileMemory)
	}
	setDefault(&c.Profile, ProfileDefault)
	if c.PeerTLS == (TLS{}) {
		c.PeerTLS = c.TLS
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// firstAdmin is the subject of the first administrator; empty where callers are not authenticated.
func (c *Config) firstAdmin() string {
	if !c.authenticates() {
		return ""
	}
	return c.Admin
}

// auditLog is the file of the audit log; empty: none is kept.
func (c *Config) auditLog() string {
	switch {
	case c.AuditLog == AuditOff, c.AuditLog == "" && (!c.authenticates() || c.DataDir == ""):
		return ""
	case c.AuditLog == "":
		return filepath.Join(c.DataDir, "audit", "audit.log")
	}
	return c.AuditLog
}

// authenticates reports whether callers of the API need a credential.
func (c *Config) authenticates() bool {
	return !c.Insecure && (c.TLS.CAFile != "" || c.optionalCerts())
}

// optionalCerts reports whether clients of the API may come without a certificate, because they may show a token.
func (c *Config) optionalCerts() bool { return c.BearerTokens || !c.OIDC.isZero() }

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// advertised is the address that others are given: what was configured for that, else the address to listen on as it
// was written, whose name may be resolved differently later, else where the listener is.
func advertised(configured, listen string, given, opened net.Listener) string {
	if configured != "" {
		return configured
	}
	if host, port, err := splitPort(listen); given == nil && err == nil && host != "" && port != 0 {
		return listen
	}
	return opened.Addr().String()
}

// loopback says that an address is reached from this machine only, as are listeners that are not of TCP.
func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// splitPort is net.SplitHostPort with a port that is a number.
func splitPort(address string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(n), err
}
