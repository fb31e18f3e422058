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

// Defaults for Config.
const (
	DefaultID           = "gk1"
	DefaultClusterName  = "gatekeeper"
	DefaultAPIAddress   = "127.0.0.1:7420"
	DefaultPeerAddress  = "127.0.0.1:7421"
	DefaultHTTPAddress  = "127.0.0.1:7422"
	DefaultAdminAddress = "127.0.0.1:7423"
	DefaultMaxCalls     = admission.DefaultWorking
	DefaultAdmin        = access.CertSubject + "admin"
	// AuditOff disables the audit log when Config.AuditLog is set to it.
	AuditOff = "off"
)

// Config configures a server. Only DataDir is required: with nothing else set, the server runs alone on loopback.
type Config struct {
	// ID names this member within its cluster: 1 to 64 of the characters A-Z a-z 0-9 . _ -. An id that has been used in
	// a cluster can never be used by a different member. Default: DefaultID for a single server. It is required with
	// Members or Join.
	ID string
	// ClusterName guards against mixing up clusters: members with different cluster names do not start a cluster
	// together, and a data directory opens only with the name that it was created with. Default DefaultClusterName.
	ClusterName string
	// DataDir is the directory for the log, the snapshots and the cluster's identity. It is created if it does not
	// exist. Only one server at a time can use it.
	DataDir string
	// LogStore selects how a new DataDir stores its log. A directory's log store cannot be changed later, so for an
	// existing directory LogStore must match. Default: the directory's log store, or LogStoreBolt for a new directory.
	LogStore LogStore
	// Memory replaces DataDir. It is for tests, and only for a single server; see Memory.
	Memory *Memory

	// APIAddress is the address, host:port, on which clients are served. Port 0 picks a free one. Default
	// DefaultAPIAddress.
	APIAddress string
	// PeerAddress is the address on which the other members are served. Default: this member's address in Members,
	// otherwise DefaultPeerAddress.
	PeerAddress string
	// AdminAddress is the address of the port for metrics, health and profiles. On loopback it serves plain HTTP.
	// Elsewhere it uses the API's TLS and authentication, and requires a role for metrics and profiles. Empty disables
	// it.
	AdminAddress string
	// HTTPAddress is the address of the dashboard and the JSON API. On loopback it serves plain HTTP; elsewhere it uses
	// the API's TLS. Empty disables it. gatekeeperd defaults to DefaultHTTPAddress.
	HTTPAddress string
	// AdvertiseAPI and AdvertisePeer are the addresses at which others reach this server. Names are resolved again on
	// each dial. Default: the listener's address (for AdvertisePeer: the server's address in Members). They are
	// required if the listener's address is a wildcard such as 0.0.0.0.
	AdvertiseAPI, AdvertisePeer string
	// Listeners are used instead of opening listeners on the addresses above. The server closes them.
	Listeners Listeners

	// Members are the initial members of a new cluster, including this one. The list must be the same on each of them.
	// All members must be running, with empty data directories, before the cluster starts. If Members and Join are both
	// empty, a new cluster consists of this server alone. Members is ignored if the data directory already belongs to a
	// cluster.
	Members []Member
	// Join lists API addresses of servers in an existing cluster. This server asks them to add it to the cluster. While
	// it has no vote, it also asks each new leader for one. Join and Members are mutually exclusive.
	Join []string
	// NonVoter makes a joining server a non-voting member: it serves clients and never becomes the leader. It requires
	// Join. A member that has a vote keeps it, and the request is refused; remove that member first.
	NonVoter bool
	// Profile selects how quickly a failed leader is replaced. Default ProfileDefault. A server in Memory becomes the
	// leader immediately.
	Profile Profile

	// TLS protects the API if it has a certificate. If it also has a CA file, clients must present a certificate issued
	// by a CA in that file.
	TLS TLS
	// PeerTLS protects the connections between members. Both sides must present a certificate with the extended key
	// usages serverAuth and clientAuth. Client certificates must not have serverAuth unless PeerTLS has a separate CA,
	// because the peer port accepts any certificate with serverAuth that was issued by a CA in CAFile. A server also
	// presents this certificate to the API of other servers, which accept it as a member's certificate. Default: the
	// same as TLS.
	PeerTLS TLS
	// BearerTokens lets clients authenticate with a bearer token instead of a certificate. It requires TLS, because
	// otherwise tokens could be read in transit.
	BearerTokens bool
	// OIDC lets clients authenticate with a JWT from its issuer instead of a certificate. It requires TLS, as
	// BearerTokens does.
	OIDC OIDC
	// Admin is the subject that administers a new cluster: cert:NAME for a name in a client certificate, a SPIFFE id,
	// or oidc:CLAIM=VALUE. It only has an effect until the cluster has bindings. Default: DefaultAdmin, the name in the
	// certificate that `gkctl cert init` creates.
	//
	// Callers are authenticated if TLS has a CAFile, or with BearerTokens or OIDC, unless Insecure is set. All servers
	// in a cluster must agree on this.
	Admin string
	// AuditLog is the file that records refusals and changes. Rotated files are kept in the same directory. AuditOff
	// disables it. Default: audit/audit.log in DataDir if callers are authenticated, otherwise off.
	AuditLog string
	// Insecure lets the server start even if other machines can reach a port that does not authenticate callers: the
	// API or the peer port without TLS and a CA file, or the admin port. Anyone who reaches such a port can change
	// everything, or read metrics and take profiles.
	Insecure bool

	// MaxCalls limits how many client calls this server handles concurrently, from 1 to 100,000. It refuses further
	// calls immediately with RESOURCE_EXHAUSTED and a retry delay. It never refuses calls that refresh or end live
	// permits and does not count calls that wait in a queue. Other limits are derived from MaxCalls; see
	// docs/reliability.md. Default DefaultMaxCalls.
	MaxCalls int

	// Definitions are created when this server becomes the leader. Existing definitions are not changed, and deleted
	// ones are not created again.
	Definitions []*gatekeeperv1.Definition
	// DumpInterval is how often the server writes its state to Logger. 0 disables dumps.
	DumpInterval time.Duration
	// Logger receives the server's log messages. Default slog.Default.
	Logger *slog.Logger
	// Registerer, if set, also receives the server's metrics. They are always in the server's own registry, which the
	// admin port exposes.
	Registerer prometheus.Registerer

	// wallClock and clockCheckInterval are set by tests. nil and 0 mean time.Now and the constant clockCheckInterval.
	wallClock          func() time.Time
	clockCheckInterval time.Duration
}

// Listeners are sockets that a supervisor or a test has already opened.
type Listeners struct{ API, Peer, HTTP, Admin net.Listener }

// Member is one of the initial members of a new cluster.
type Member struct {
	ID string
	// PeerAddress is the address at which the other members reach this one.
	PeerAddress string
}

// Profile is a set of Raft timeouts. A leader that cannot reach a majority for the heartbeat timeout steps down. A
// stalled disk does not make a leader step down: changes wait for the disk. If the leader's own disk stalls for that
// long, changes are refused.
type Profile string

const (
	// ProfileDefault usually replaces a failed leader in one to two seconds. Its heartbeat, election and lease timeouts
	// are 800 ms.
	ProfileDefault Profile = "default"
	// ProfileFast takes half as long, with timeouts of 400 ms. It is for networks and machines that never stall for
	// that long.
	ProfileFast Profile = "fast"
)

// LogStore selects how the log is stored on disk. Servers in a cluster may use different log stores.
type LogStore string

const (
	// LogStoreBolt stores the log in one file, together with the other durable state of a member.
	LogStoreBolt LogStore = "bolt"
	// LogStoreWAL stores the log in append-only files.
	LogStoreWAL LogStore = "wal"
)

// TLS lists PEM files. The zero value means no TLS.
type TLS struct {
	// CertFile and KeyFile are this server's certificate, with its chain, and its private key.
	CertFile, KeyFile string
	// CAFile contains the CA certificates that verify the other side. On the API it verifies client certificates.
	// Between members it verifies every certificate.
	CAFile string
}

// OIDC configures the issuer of JWTs that clients may present. With the zero value, JWTs are not accepted. If neither
// KeysFile nor KeysURL is set, the keys are found by OpenID Connect Discovery, and Issuer must be an https URL.
type OIDC struct {
	// Issuer and Audience must match the claims iss and aud of a JWT. Both are required. A JWT for another audience is
	// refused, because otherwise a service that receives the JWT could use it here.
	Issuer, Audience string
	// KeysFile is a JWK Set with the issuer's public keys. It is read again when it changes.
	KeysFile string
	// KeysURL is the https URL of the JWK Set. Keys that have already been fetched remain in use while the issuer is
	// down.
	KeysURL string
	// CAFile contains the CA certificates that verify the servers from which keys are fetched. Default: the system's.
	CAFile string
	// Claims are the claims that subjects are taken from, oidc:CLAIM=VALUE, in order of precedence: the first claim
	// that a binding names identifies the caller. A claim with a list yields one subject for each value. A caller that
	// matches two bindings by the same claim is refused. An email counts only if email_verified is true. Default: sub,
	// email, groups.
	Claims []string
}

// isZero reports whether JWTs are not accepted.
func (o *OIDC) isZero() bool { return o.Issuer == "" }

// withDefaults fills in the defaults that follow from the configuration alone.
func (c Config) withDefaults() Config {
	single := len(c.Members) == 0 && len(c.Join) == 0
	if c.ID == "" && single {
		c.ID = DefaultID
	}
	setDefault(&c.ClusterName, DefaultClusterName)
	setDefault(&c.MaxCalls, DefaultMaxCalls)
	setDefault(&c.Admin, DefaultAdmin)
	setDefault(&c.clockCheckInterval, clockCheckInterval)
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

// firstAdmin returns the subject of the first administrator, or "" if callers are not authenticated.
func (c *Config) firstAdmin() string {
	if !c.authenticates() {
		return ""
	}
	return c.Admin
}

// auditLog returns the path of the audit log, or "" if it is off.
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

// optionalCerts reports whether clients of the API may connect without a certificate, because they may present a token.
func (c *Config) optionalCerts() bool { return c.BearerTokens || !c.OIDC.isZero() }

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// advertised returns the address to advertise: the configured one; otherwise the listen address as it was written,
// because its name may resolve differently later; otherwise the listener's address.
func advertised(configured, listen string, given, opened net.Listener) string {
	if configured != "" {
		return configured
	}
	if host, port, err := splitPort(listen); given == nil && err == nil && host != "" && port != 0 {
		return listen
	}
	return opened.Addr().String()
}

// loopback reports whether only this machine can reach an address. Addresses that are not TCP count as loopback.
func loopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// splitPort is like net.SplitHostPort, but requires a numeric port.
func splitPort(address string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(n), err
}
