package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

// options is everything that can be configured.
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

// flags returns the one table of what can be configured, from which variables and the keys of the configuration file follow.
func (o *options) flags(env environment) *pflag.FlagSet {
	f := pflag.NewFlagSet("gatekeeperd", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&o.config, "config", "", "YAML file with any of these flags as keys, for example api-address: 10.0.0.1:7420")

	f.StringVar(&o.id, "id", "", `name of this member, its own in the cluster (default "`+gatekeeper.DefaultID+`" for a single server)`)
	f.StringVar(&o.clusterName, "cluster-name", gatekeeper.DefaultClusterName, "name of the cluster, the same on all --members")
	f.StringVar(&o.dataDir, "data-dir", defaultDataDir(env), "folder of the log and the snapshots; made when it is not there")
	f.StringVar(&o.logStore, "log-store", "", "how a new data folder keeps its log: bolt, one file with everything, or wal, files that are only appended to (default: that of the folder, bolt for a new one)")

	f.StringVar(&o.apiAddress, "api-address", gatekeeper.DefaultAPIAddress, "where clients are served")
	f.StringVar(&o.peerAddress, "peer-address", "", `where other members are served (default: this member's address in --members, else "`+gatekeeper.DefaultPeerAddress+`")`)
	f.StringVar(&o.httpAddress, "http-address", gatekeeper.DefaultHTTPAddress, `where the dashboard and the JSON API are served, off loopback by TLS as the API; "" for nowhere`)
	f.StringVar(&o.adminAddress, "admin-address", gatekeeper.DefaultAdminAddress, `where metrics, health and profiles are served, off loopback by TLS as the API; "" for nowhere`)
	f.StringVar(&o.advertiseAPI, "advertise-api", "", "where others reach the API (default: --api-address)")
	f.StringVar(&o.advertisePeer, "advertise-peer", "", "where other members reach this one (default: its address in --members, else --peer-address)")

	f.StringSliceVar(&o.members, "members", nil, "the first members of a new cluster, id=host:port,..., this one among them; the same on each. It starts when all of them run")
	f.StringSliceVar(&o.join, "join", nil, "API addresses of a cluster that is to take this server in")
	f.BoolVar(&o.nonVoter, "non-voter", false, "with --join: follow without a vote, so that this server never leads and never counts for a majority")
	f.StringVar(&o.profile, "profile", string(gatekeeper.ProfileDefault), "how soon a dead leader is replaced: default (1 to 2 s), or fast (half of that, for networks and machines that never stand still for 400 ms)")

	f.StringVar(&o.tls.CertFile, "tls-cert", "", "PEM file with this server's certificate; the API is then served by TLS only")
	f.StringVar(&o.tls.KeyFile, "tls-key", "", "PEM file with its private key")
	f.StringVar(&o.tls.CAFile, "tls-ca", "", "PEM file with the authorities of clients and servers; each client must show a certificate of theirs")
	f.BoolVar(&o.bearerTokens, "bearer-tokens", false, "let clients in that show a bearer token instead of a certificate")
	f.StringVar(&o.admin, "admin", gatekeeper.DefaultAdmin, "who administers a new cluster: cert:NAME, a name in a client certificate, a SPIFFE id, or oidc:CLAIM=VALUE")
	f.StringVar(&o.oidc.Issuer, "oidc-issuer", "", "let clients in that show a JWT of this issuer (its iss) instead of a certificate")
	f.StringVar(&o.oidc.Audience, "oidc-audience", "", "what a JWT must be for (its aud); required with --oidc-issuer")
	f.StringVar(&o.oidc.KeysFile, "oidc-keys-file", "", "JWK Set with the issuer's public keys, read again when it has changed (default: they are fetched)")
	f.StringVar(&o.oidc.KeysURL, "oidc-keys-url", "", "https address of the JWK Set (default: that of the issuer's OpenID Connect Discovery)")
	f.StringVar(&o.oidc.CAFile, "oidc-ca", "", "PEM file with the authorities that verify the servers of these addresses (default: those of the system)")
	f.StringSliceVar(&o.oidc.Claims, "oidc-claims", nil, "claims that bindings may name as oidc:CLAIM=VALUE; the first one that a binding names decides (default sub,email,groups)")
	f.StringVar(&o.peerTLS.CertFile, "peer-tls-cert", "", "as --tls-cert, between members, and to the API of the others (default: the same three files)")
	f.StringVar(&o.peerTLS.KeyFile, "peer-tls-key", "", "as --tls-key, between members")
	f.StringVar(&o.peerTLS.CAFile, "peer-tls-ca", "", "as --tls-ca, between members, who verify one another")
	f.StringVar(&o.auditLog, "audit-log", "", `file for refusals and changes, rotated beside it; off for none (default: audit/audit.log in the data folder, where callers are authenticated)`)
	f.BoolVar(&o.insecure, "insecure", false, "start although other machines reach a port that authenticates nobody, without --tls-cert and --tls-ca")

	f.StringVar(&o.definitions, "definitions", "", "YAML file of semaphore definitions, created if they were never there; never overwrites, never brings back what was deleted")
	f.IntVar(&o.maxCalls, "max-calls", gatekeeper.DefaultMaxCalls, "how many calls are worked on at once; what comes beyond is refused, to be tried again")
	f.DurationVar(&o.dumpInterval, "dump-interval", 0, "how often to write the whole state to the log; 0 for never")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 15*time.Second, "how long a graceful stop may take")
	return f
}

// defaultDataDir is a folder of the user who runs this, or the system's for root.
func defaultDataDir(env environment) string {
	switch {
	case env.root:
		return "/var/lib/gatekeeper"
	case filepath.IsAbs(env.get("XDG_STATE_HOME")): // the specification says to ignore relative ones
		return filepath.Join(env.get("XDG_STATE_HOME"), "gatekeeper")
	case env.get("HOME") != "":
		return filepath.Join(env.get("HOME"), ".local", "state", "gatekeeper")
	}
	return "" // and then it must be given
}

// logger returns the logger that was asked for.
func (o *options) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	switch o.logLevel {
	case "debug", "info", "warn", "error":
		_ = level.UnmarshalText([]byte(o.logLevel)) // knows all four
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
