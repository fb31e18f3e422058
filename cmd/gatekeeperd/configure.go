package main

import (
	"errors"
	"os"
	"strings"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

// configure converts the options to the server's configuration. definitions is the file that Definitions came from, or
// nil.
func (o *options) configure() (cfg gatekeeper.Config, definitions *deffile.File, err error) {
	cfg = gatekeeper.Config{
		ID:            o.id,
		ClusterName:   o.clusterName,
		DataDir:       o.dataDir,
		LogStore:      gatekeeper.LogStore(o.logStore),
		APIAddress:    o.apiAddress,
		PeerAddress:   o.peerAddress,
		HTTPAddress:   o.httpAddress,
		AdminAddress:  o.adminAddress,
		AdvertiseAPI:  o.advertiseAPI,
		AdvertisePeer: o.advertisePeer,
		Join:          o.join,
		NonVoter:      o.nonVoter,
		Profile:       gatekeeper.Profile(o.profile),
		TLS:           o.tls,
		PeerTLS:       o.peerTLS,
		Insecure:      o.insecure,
		BearerTokens:  o.bearerTokens,
		OIDC:          o.oidc,
		Admin:         o.admin,
		AuditLog:      o.auditLog,
		DumpInterval:  o.dumpInterval,
		MaxCalls:      o.maxCalls,
	}
	for _, member := range o.members {
		id, address, ok := strings.Cut(member, "=")
		if !ok {
			return cfg, nil, usage("--members %q must be id=host:port", member)
		}
		cfg.Members = append(cfg.Members, gatekeeper.Member{ID: id, PeerAddress: address})
	}
	if o.maxCalls <= 0 { // the server treats 0 as the default
		return cfg, nil, usage("--max-calls %d must be greater than 0", o.maxCalls)
	}
	if o.shutdownTimeout <= 0 {
		return cfg, nil, usage("--shutdown-timeout %v must be greater than 0", o.shutdownTimeout)
	}
	if o.definitions != "" {
		if definitions, err = readDefinitions(o.definitions); err != nil {
			return cfg, nil, err
		}
		cfg.Definitions = definitions.Definitions()
	}
	return cfg, definitions, explain(cfg.Validate(), definitions)
}

func readDefinitions(path string) (*deffile.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, &deffile.Error{File: path, Msg: "definitions file: " + err.Error()}
	}
	return deffile.Parse(path, data)
}

// explain rewords a server error for the operator: it names flags instead of fields, and lines of the definitions file
// instead of indexes.
func explain(err error, definitions *deffile.File) error {
	if e, ok := errors.AsType[*gatekeeper.DefinitionError](err); ok && definitions != nil {
		return definitions.Errorf(e.Index, e.Field, "definition %q: %v", e.Name, e.Err)
	}
	if e, ok := errors.AsType[*gatekeeper.ConfigError](err); ok {
		return &gatekeeper.ConfigError{Field: flagOf(e.Field), Value: e.Value, Rule: e.Rule}
	}
	return err
}

// flagOf returns the name of the flag that sets a field of gatekeeper.Config.
func flagOf(field string) string {
	switch field {
	case "ID":
		return "--id"
	case "ClusterName":
		return "--cluster-name"
	case "DataDir":
		return "--data-dir"
	case "LogStore":
		return "--log-store"
	case "APIAddress":
		return "--api-address"
	case "PeerAddress":
		return "--peer-address"
	case "HTTPAddress":
		return "--http-address"
	case "AdminAddress":
		return "--admin-address"
	case "AdvertiseAPI":
		return "--advertise-api"
	case "AdvertisePeer":
		return "--advertise-peer"
	case "TLS":
		return "--tls-cert, --tls-key, --tls-ca"
	case "OIDC.Issuer":
		return "--oidc-issuer"
	case "OIDC.Audience":
		return "--oidc-audience"
	case "OIDC.KeysFile":
		return "--oidc-keys-file"
	case "OIDC.KeysURL":
		return "--oidc-keys-url"
	case "OIDC.CAFile":
		return "--oidc-ca"
	case "OIDC.Claims":
		return "--oidc-claims"
	case "PeerTLS":
		return "--peer-tls-cert, --peer-tls-key, --peer-tls-ca"
	case "MaxCalls":
		return "--max-calls"
	case "DumpInterval":
		return "--dump-interval"
	case "Subject":
		return "--subject"
	case "Binding":
		return "--binding"
	case "MaxDuration":
		return "--max-duration"
	case "UnsafeGrantAfter":
		return "--unsafe-grant-after"
	}
	return "--" + strings.ToLower(field)
}
