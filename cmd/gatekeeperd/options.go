package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

// options holds the configuration options.
type options struct {
	config          string
	id              string
	clusterName     string
	dataDir         string
	logStore        string
	apiAddress      string
	peerAddress     string
	httpAddress     string
	adminAddress    string
	advertiseAPI    string
	advertisePeer   string
	members         []string
	join            []string
	nonVoter        bool
	profile         string
	tls, peerTLS    gatekeeper.TLS
	bearerTokens    bool
	oidc            gatekeeper.OIDC
	admin           string
	auditLog        string
	insecure        bool
	definitions     string
	maxCalls        int
	dumpInterval    time.Duration
	logFormat       string
	logLevel        string
	shutdownTimeout time.Duration
}

// flags returns the flag set that defines all options. The names of environment variables and of keys in the
// configuration file are derived from it.
func (o *options) flags(env environment) *pflag.FlagSet {
	f := pflag.NewFlagSet("gatekeeperd", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&o.config, "config", "", "YAML file with flags as keys, for example api-address: 10.0.0.1:7420")

	f.StringVar(&o.id, "id", "", `unique name of this member in the cluster (default "`+gatekeeper.DefaultID+`" for a single server)`)
	f.StringVar(&o.clusterName, "cluster-name", gatekeeper.DefaultClusterName, "name of the cluster, the same on all --members")
	f.StringVar(&o.dataDir, "data-dir", defaultDataDir(env), "directory for the log and the snapshots; created if it does not exist")
	f.StringVar(&o.logStore, "log-store", "", "how a new data directory stores its log: bolt (one file) or wal (append-only files) (default: the directory's, or bolt for a new one)")

	f.StringVar(&o.apiAddress, "api-address", gatekeeper.DefaultAPIAddress, "address for clients")
	f.StringVar(&o.peerAddress, "peer-address", "", `address for other members (default: this member's address in --members, else "`+gatekeeper.DefaultPeerAddress+`")`)
	f.StringVar(&o.httpAddress, "http-address", gatekeeper.DefaultHTTPAddress, `address of the dashboard and the JSON API; uses the API's TLS settings, except on loopback; "" disables it`)
	f.StringVar(&o.adminAddress, "admin-address", gatekeeper.DefaultAdminAddress, `address of metrics, health and profiles; uses the API's TLS settings, except on loopback; "" disables it`)
	f.StringVar(&o.advertiseAPI, "advertise-api", "", "address at which clients and other members reach the API (default: --api-address)")
	f.StringVar(&o.advertisePeer, "advertise-peer", "", "address at which other members reach this one (default: its address in --members, else --peer-address)")

	f.StringSliceVar(&o.members, "members", nil, "the first members of a new cluster, id=host:port,..., including this one; pass the same list to each. The cluster starts once all of them are running")
	f.StringSliceVar(&o.join, "join", nil, "API addresses of a cluster to join")
	f.BoolVar(&o.nonVoter, "non-voter", false, "with --join: join without a vote; this server then never leads and does not count towards a majority")
	f.StringVar(&o.profile, "profile", string(gatekeeper.ProfileDefault), "how soon a dead leader is replaced: default (1 to 2 s), or fast (half of that, for networks and machines that never stall for 400 ms)")

	f.StringVar(&o.tls.CertFile, "tls-cert", "", "PEM file with this server's certificate; the API then requires TLS")
	f.StringVar(&o.tls.KeyFile, "tls-key", "", "PEM file with its private key")
	f.StringVar(&o.tls.CAFile, "tls-ca", "", "PEM file with the CA certificates for clients and servers; each client must present a certificate issued by one of these CAs")
	f.BoolVar(&o.bearerTokens, "bearer-tokens", false, "accept clients with a bearer token instead of a certificate")
	f.StringVar(&o.admin, "admin", gatekeeper.DefaultAdmin, "administrator of a new cluster: cert:NAME (a name in a client certificate), a SPIFFE id, or oidc:CLAIM=VALUE")
	f.StringVar(&o.oidc.Issuer, "oidc-issuer", "", "accept clients with a JWT from this issuer (its iss) instead of a certificate")
	f.StringVar(&o.oidc.Audience, "oidc-audience", "", "required audience of a JWT (its aud); mandatory with --oidc-issuer")
	f.StringVar(&o.oidc.KeysFile, "oidc-keys-file", "", "JWK Set with the issuer's public keys, reloaded when it changes (default: fetched)")
	f.StringVar(&o.oidc.KeysURL, "oidc-keys-url", "", "https URL of the JWK Set (default: from the issuer's OpenID Connect Discovery)")
	f.StringVar(&o.oidc.CAFile, "oidc-ca", "", "PEM file with the CA certificates used to verify the servers at these URLs (default: the system's)")
	f.StringSliceVar(&o.oidc.Claims, "oidc-claims", nil, "claims that bindings may name as oidc:CLAIM=VALUE; the first one that has a binding identifies the caller (default sub,email,groups)")
	f.StringVar(&o.peerTLS.CertFile, "peer-tls-cert", "", "like --tls-cert, for connections to other members, including calls to their API (default: the same three files)")
	f.StringVar(&o.peerTLS.KeyFile, "peer-tls-key", "", "like --tls-key, for the other members")
	f.StringVar(&o.peerTLS.CAFile, "peer-tls-ca", "", "like --tls-ca, for members to verify each other")
	f.StringVar(&o.auditLog, "audit-log", "", `file that records refused calls and changes; rotated files are kept next to it; off disables it (default: audit/audit.log in the data directory if callers are authenticated)`)
	f.BoolVar(&o.insecure, "insecure", false, "start without --tls-cert and --tls-ca even if other machines can reach a port; that port then has no authentication")

	f.StringVar(&o.definitions, "definitions", "", "YAML file of semaphore definitions to create; never overwrites definitions, and never recreates deleted ones")
	f.IntVar(&o.maxCalls, "max-calls", gatekeeper.DefaultMaxCalls, "maximum number of calls processed at the same time; further calls are rejected, and clients retry them")
	f.DurationVar(&o.dumpInterval, "dump-interval", 0, "how often to write the whole state to the log; 0 means never")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 15*time.Second, "time allowed for a graceful shutdown")
	return f
}

// defaultDataDir returns a directory in the user's home, or the system directory for root.
func defaultDataDir(env environment) string {
	switch {
	case env.root:
		return "/var/lib/gatekeeper"
	case filepath.IsAbs(env.get("XDG_STATE_HOME")): // the XDG specification says to ignore relative paths
		return filepath.Join(env.get("XDG_STATE_HOME"), "gatekeeper")
	case env.get("HOME") != "":
		return filepath.Join(env.get("HOME"), ".local", "state", "gatekeeper")
	}
	return "" // --data-dir is then required
}

// logger returns the configured logger.
func (o *options) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	switch o.logLevel {
	case "debug", "info", "warn", "error":
		_ = level.UnmarshalText([]byte(o.logLevel)) // cannot fail for these four values
	default:
		return nil, usage("--log-level %q must be debug, info, warn or error", o.logLevel)
	}
	handler := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, handler)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, handler)), nil
	}
	return nil, usage("--log-format %q must be text or json", o.logFormat)
}
