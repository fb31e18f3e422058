package gatekeeper

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/oidc"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// ConfigError reports which field of a Config violates which rule.
type ConfigError struct {
	// Field is the name of the field in Config.
	Field string
	// Value is the invalid value.
	Value string
	// Rule is the rule that the value violates, phrased to follow the field's name, for example "must be host:port".
	Rule string
}

func (e *ConfigError) Error() string {
	if e.Value == "" {
		return e.Field + " " + e.Rule
	}
	return fmt.Sprintf("%s %q %s", e.Field, e.Value, e.Rule)
}

// minDumpInterval keeps a mistyped unit from filling the disk with dumps.
const minDumpInterval = time.Second

// maxMaxCalls is the largest limit that still protects a server.
const maxMaxCalls = 100_000

// Validate checks as much of a configuration as it can without opening anything. It returns a *ConfigError, a
// *DefinitionError or nil. Open calls it too.
func (c Config) Validate() error {
	c = c.withDefaults()
	for _, check := range []func() error{
		c.checkNames, c.checkAddresses, c.checkMembers, c.checkJoin, c.checkTLS, c.checkOIDC, c.checkRest,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	_, err := convertDefinitions(c.Definitions)
	return err
}

func (c *Config) checkNames() error {
	if c.ID == "" {
		return &ConfigError{"ID", "", "must be given: each server in a cluster needs its own"}
	}
	if !validID(c.ID) {
		return &ConfigError{"ID", c.ID, idRule}
	}
	if !validID(c.ClusterName) {
		return &ConfigError{"ClusterName", c.ClusterName, idRule}
	}
	return c.checkData()
}

func (c *Config) checkData() error {
	switch {
	case c.Memory == nil && c.DataDir == "":
		return &ConfigError{"DataDir", "", "must be given"}
	case c.Memory != nil && c.DataDir != "":
		return &ConfigError{"DataDir", c.DataDir, "cannot be combined with Memory, which replaces it"}
	case c.Memory != nil && c.LogStore != "":
		return &ConfigError{"LogStore", string(c.LogStore), "cannot be combined with Memory, which stores the log"}
	case !c.LogStore.known():
		return &ConfigError{"LogStore", string(c.LogStore), logStoreRule}
	case c.Memory != nil && c.dial() == nil && len(c.Members)+len(c.Join) > 0:
		return &ConfigError{"Memory", "", "cannot be combined with Members or Join: an in-memory server has no other members"}
	}
	return nil
}

const logStoreRule = "must be bolt or wal"

// known reports whether l is empty or a known log store.
func (l LogStore) known() bool { return l == "" || l == LogStoreBolt || l == LogStoreWAL }

const idRule = "must be 1 to 64 of the characters A-Z a-z 0-9 . _ -"

func validID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

func (c *Config) checkAddresses() error {
	for _, listen := range []struct{ field, address string }{
		{"APIAddress", c.APIAddress}, {"PeerAddress", c.PeerAddress}, {"HTTPAddress", c.HTTPAddress}, {"AdminAddress", c.AdminAddress},
	} {
		if listen.address == "" {
			continue
		}
		if _, _, err := splitPort(listen.address); err != nil {
			return &ConfigError{listen.field, listen.address, "must be host:port"}
		}
	}
	for _, advertise := range []struct{ field, address, listen string }{
		{"AdvertiseAPI", c.AdvertiseAPI, c.listenAddress(c.Listeners.API, c.APIAddress)},
		{"AdvertisePeer", c.AdvertisePeer, c.listenAddress(c.Listeners.Peer, c.PeerAddress)},
	} {
		if advertise.address == "" {
			if isWildcard(advertise.listen) {
				return &ConfigError{advertise.field, "", fmt.Sprintf("must be given: other machines cannot reach this server at its listen address %q", advertise.listen)}
			}
			continue
		}
		if err := checkReachable(advertise.field, advertise.address); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) listenAddress(l net.Listener, configured string) string {
	if l != nil {
		return l.Addr().String()
	}
	return configured
}

// isWildcard reports whether an address is a wildcard that stands for all of a machine's addresses. A server can listen
// on it, but other servers cannot dial it.
func isWildcard(address string) bool {
	host, _, err := splitPort(address)
	return err == nil && (host == "" || net.ParseIP(host).IsUnspecified())
}

// checkReachable rejects addresses that other servers cannot dial.
func checkReachable(field, address string) error {
	_, port, err := splitPort(address)
	switch {
	case err != nil || port == 0:
		return &ConfigError{field, address, "must be host:port"}
	case isWildcard(address):
		return &ConfigError{field, address, "must be an address at which other machines can reach this server, not a wildcard for all of the machine's addresses"}
	}
	return nil
}

func (c *Config) checkMembers() error {
	if len(c.Members) == 0 {
		return nil
	}
	if len(c.Join) > 0 {
		return &ConfigError{"Join", strings.Join(c.Join, ","), "cannot be combined with the members of a new cluster: it is for joining an existing one"}
	}
	ids, addresses := make(map[string]bool), make(map[string]string)
	for _, m := range c.Members {
		if !validID(m.ID) {
			return &ConfigError{"Members", m.ID, "contains an invalid member id: it " + idRule}
		}
		if ids[m.ID] {
			return &ConfigError{"Members", m.ID, "lists this member twice"}
		}
		ids[m.ID] = true
		if err := checkReachable("Members", m.PeerAddress); err != nil {
			return err
		}
		if other, ok := addresses[m.PeerAddress]; ok {
			return &ConfigError{"Members", m.PeerAddress, fmt.Sprintf("is the address of both %s and %s", other, m.ID)}
		}
		addresses[m.PeerAddress] = m.ID
		if m.ID == c.ID && c.AdvertisePeer != m.PeerAddress {
			return &ConfigError{"AdvertisePeer", c.AdvertisePeer, fmt.Sprintf("must be this member's address in Members, %s", m.PeerAddress)}
		}
	}
	if !ids[c.ID] {
		return &ConfigError{"Members", "", fmt.Sprintf("must include this server: its ID is %q", c.ID)}
	}
	return nil
}

func (c *Config) checkJoin() error {
	if c.NonVoter && len(c.Join) == 0 {
		return &ConfigError{"NonVoter", "", "requires a cluster to join: all servers in a new cluster are voters"}
	}
	for _, address := range c.Join {
		if err := checkReachable("Join", address); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkTLS() error {
	for _, files := range []struct {
		field string
		TLS
	}{{"TLS", c.TLS}, {"PeerTLS", c.PeerTLS}} {
		if (files.CertFile == "") != (files.KeyFile == "") {
			return &ConfigError{files.field, files.CertFile + files.KeyFile, "needs both a certificate and its key"}
		}
		if files.CAFile != "" && files.CertFile == "" {
			return &ConfigError{files.field, files.CAFile, "also needs a certificate and its key"}
		}
	}
	if c.BearerTokens && c.TLS.CertFile == "" {
		return &ConfigError{"BearerTokens", "", "requires TLS: anyone who sees a token in transit can use it"}
	}
	if bad, ok := errors.AsType[*semaphore.FieldError](access.ValidSubject(c.Admin)); ok {
		return &ConfigError{"Admin", c.Admin, bad.Rule}
	}
	if c.PeerTLS.CertFile != "" && c.PeerTLS.CAFile == "" {
		if c.PeerTLS == c.TLS { // the default
			return &ConfigError{"PeerTLS", "", "must be set unless --tls-ca is set, because members verify each other"}
		}
		return &ConfigError{"PeerTLS", c.PeerTLS.CertFile, "also needs a CA file, because members verify each other"}
	}
	return nil
}

func (c *Config) checkOIDC() error {
	o := &c.OIDC
	if o.isZero() {
		if o.Audience+o.KeysFile+o.KeysURL+o.CAFile+strings.Join(o.Claims, "") != "" {
			return &ConfigError{"OIDC.Issuer", "", "must be set if any other OIDC option is set"}
		}
		return nil
	}
	switch {
	case c.TLS.CertFile == "":
		return &ConfigError{"OIDC.Issuer", o.Issuer, "requires TLS: anyone who sees a JWT in transit can use it"}
	case o.Audience == "":
		return &ConfigError{"OIDC.Audience", "", "must be given: without it, a JWT for any other service would be accepted"}
	case o.KeysFile != "" && o.KeysURL != "":
		return &ConfigError{"OIDC.KeysURL", o.KeysURL, "cannot be combined with a key file"}
	case o.KeysURL != "" && !isHTTPS(o.KeysURL):
		return &ConfigError{"OIDC.KeysURL", o.KeysURL, "must be an https URL without a user"}
	case o.KeysFile == "" && o.KeysURL == "" && !isHTTPS(o.Issuer):
		return &ConfigError{"OIDC.Issuer", o.Issuer, "must be an https URL, unless a key file or a key URL is set"}
	case o.KeysFile != "" && o.CAFile != "":
		return &ConfigError{"OIDC.CAFile", o.CAFile, "cannot be combined with a key file: the CA file is used only for fetching keys"}
	}
	for i, claim := range o.Claims {
		if !oidc.ValidClaim(claim) || slices.Contains(o.Claims[:i], claim) {
			return &ConfigError{"OIDC.Claims", claim, "must be a claim that identifies the caller, for example sub or groups, and be listed only once"}
		}
	}
	return nil
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

func (c *Config) checkRest() error {
	if c.Profile != ProfileDefault && c.Profile != ProfileFast && (c.Profile != profileMemory || c.Memory == nil) {
		return &ConfigError{"Profile", string(c.Profile), "must be default or fast"}
	}
	if c.MaxCalls < 1 || c.MaxCalls > maxMaxCalls {
		return &ConfigError{"MaxCalls", strconv.Itoa(c.MaxCalls), "must be from 1 to " + strconv.Itoa(maxMaxCalls)}
	}
	if c.DumpInterval != 0 && c.DumpInterval < minDumpInterval {
		return &ConfigError{"DumpInterval", c.DumpInterval.String(), "must be 0 for never, or at least 1s"}
	}
	return nil
}
