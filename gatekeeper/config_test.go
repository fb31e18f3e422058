package gatekeeper

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func threeMembers() []Member {
	return []Member{{"gk1", "10.0.0.1:7421"}, {"gk2", "10.0.0.2:7421"}, {"gk3", "10.0.0.3:7421"}}
}

func TestValidate_ValidConfigs_Pass(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"data directory only":  {DataDir: "d"},
		"in memory, for tests": {Memory: NewMemory()},
		"members":              {DataDir: "d", ID: "gk2", Members: threeMembers()},
		"advertised at a different address": {
			DataDir: "d", ID: "gk2", Members: threeMembers(), PeerAddress: "0.0.0.0:7421", APIAddress: ":7420", AdvertiseAPI: "gk2.example:7420",
		},
		"joiner":   {DataDir: "d", ID: "gk4", Join: []string{"gk1.example:7420", "[::1]:7420"}},
		"any port": {DataDir: "d", APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", HTTPAddress: "127.0.0.1:0", AdminAddress: "127.0.0.1:0"},
		"TLS":      {DataDir: "d", TLS: TLS{"c", "k", "ca"}, Profile: ProfileFast, DumpInterval: time.Minute},
		"API TLS without a CA file": {
			DataDir: "d", TLS: TLS{CertFile: "c", KeyFile: "k"}, PeerTLS: TLS{"c", "k", "ca"},
		},
		"few calls":   {DataDir: "d", MaxCalls: 1},
		"definitions": {DataDir: "d", Definitions: []*gatekeeperv1.Definition{{Name: "a"}, {Name: "b"}}},
	} {
		if err := cfg.Validate(); err != nil {
			t.Errorf("Validate() with %s = %v", name, err)
		}
	}
}

func TestValidate_InvalidConfigs_ReportField(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg   Config
		field string
		text  string
	}{
		"no data directory":                 {Config{}, "DataDir", "must be given"},
		"data directory and memory":         {Config{DataDir: "d", Memory: NewMemory()}, "DataDir", "combined with Memory"},
		"memory with members":               {Config{ID: "gk1", Memory: NewMemory(), Members: threeMembers()}, "Memory", "no other members"},
		"memory with join":                  {Config{ID: "gk4", Memory: NewMemory(), Join: []string{"a:1"}}, "Memory", "no other members"},
		"memory profile without Memory":     {Config{DataDir: "d", Profile: profileMemory}, "Profile", "default or fast"},
		"no id with members":                {Config{DataDir: "d", Members: threeMembers()}, "ID", "must be given"},
		"joiner without an id":              {Config{DataDir: "d", Join: []string{"a:1"}}, "ID", "must be given"},
		"negative number of calls":          {Config{DataDir: "d", MaxCalls: -1}, "MaxCalls", "from 1 to 100000"},
		"too many calls":                    {Config{DataDir: "d", MaxCalls: 100_001}, "MaxCalls", "from 1 to 100000"},
		"bad id":                            {Config{DataDir: "d", ID: "gk 1"}, "ID", "1 to 64 of"},
		"long id":                           {Config{DataDir: "d", ID: strings.Repeat("a", 65)}, "ID", "1 to 64 of"},
		"bad cluster name":                  {Config{DataDir: "d", ClusterName: "a/b"}, "ClusterName", "1 to 64 of"},
		"no port":                           {Config{DataDir: "d", APIAddress: "localhost"}, "APIAddress", "must be host:port"},
		"HTTP without a port":               {Config{DataDir: "d", HTTPAddress: "127.0.0.1"}, "HTTPAddress", "must be host:port"},
		"port is not a number":              {Config{DataDir: "d", AdminAddress: "localhost:http"}, "AdminAddress", "must be host:port"},
		"port too large":                    {Config{DataDir: "d", PeerAddress: "localhost:70000"}, "PeerAddress", "must be host:port"},
		"wildcard API address":              {Config{DataDir: "d", APIAddress: "0.0.0.0:7420"}, "AdvertiseAPI", "must be given"},
		"wildcard peer address":             {Config{DataDir: "d", PeerAddress: ":7421"}, "AdvertisePeer", "must be given"},
		"advertises a wildcard":             {Config{DataDir: "d", AdvertiseAPI: "[::]:7420"}, "AdvertiseAPI", "not a wildcard"},
		"advertises port 0":                 {Config{DataDir: "d", AdvertisePeer: "gk1:0"}, "AdvertisePeer", "must be host:port"},
		"members and join":                  {Config{DataDir: "d", ID: "gk1", Members: threeMembers(), Join: []string{"a:1"}}, "Join", "combined with the members of a new cluster"},
		"not among the members":             {Config{DataDir: "d", ID: "gk4", Members: threeMembers()}, "Members", `its ID is "gk4"`},
		"duplicate member":                  {Config{DataDir: "d", ID: "gk1", Members: append(threeMembers(), threeMembers()[0])}, "Members", "twice"},
		"duplicate address":                 {Config{DataDir: "d", ID: "gk1", Members: append(threeMembers(), Member{"gk4", "10.0.0.1:7421"})}, "Members", "both gk1 and gk4"},
		"bad member id":                     {Config{DataDir: "d", ID: "gk1", Members: append(threeMembers(), Member{"", "10.0.0.4:7421"})}, "Members", "1 to 64 of"},
		"bad member address":                {Config{DataDir: "d", ID: "gk1", Members: append(threeMembers(), Member{"gk4", "0.0.0.0:7421"})}, "Members", "not a wildcard"},
		"peer address differs from members": {Config{DataDir: "d", ID: "gk1", Members: threeMembers(), AdvertisePeer: "10.0.0.9:7421"}, "AdvertisePeer", "10.0.0.1:7421"},
		"bad join address":                  {Config{DataDir: "d", ID: "gk4", Join: []string{"gk1"}}, "Join", "must be host:port"},
		"certificate without a key":         {Config{DataDir: "d", TLS: TLS{CertFile: "c"}}, "TLS", "both a certificate and its key"},
		"CA file without a certificate":     {Config{DataDir: "d", TLS: TLS{CAFile: "ca"}}, "TLS", "needs a certificate"},
		"peers without CA":                  {Config{DataDir: "d", TLS: TLS{CertFile: "c", KeyFile: "k"}}, "PeerTLS", "verify each other"},
		"unknown profile":                   {Config{DataDir: "d", Profile: "slow"}, "Profile", "default or fast"},
		"dump interval too short":           {Config{DataDir: "d", DumpInterval: time.Millisecond}, "DumpInterval", "at least 1s"},
		"negative dump interval":            {Config{DataDir: "d", DumpInterval: -time.Minute}, "DumpInterval", "at least 1s"},
	} {
		err := test.cfg.Validate()
		e, ok := errors.AsType[*ConfigError](err)
		if !ok || e.Field != test.field || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %v, want an error for %s containing %q", name, err, test.field, test.text)
		}
	}
}

func TestValidate_InvalidDefinition_IsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bad   *gatekeeperv1.Definition
		field string
	}{
		"bad pattern":            {&gatekeeperv1.Definition{Name: "b", GroupPattern: proto.String("a(")}, "group_pattern"},
		"explicit empty pattern": {&gatekeeperv1.Definition{Name: "b", AcquirerPattern: proto.String("")}, "acquirer_pattern"},
		"duration":               {&gatekeeperv1.Definition{Name: "b", Duration: durationpb.New(time.Millisecond)}, "duration"},
		"permits":                {&gatekeeperv1.Definition{Name: "b", Permits: proto.Uint32(1_000_001)}, "permits"},
		"unknown enum value":     {&gatekeeperv1.Definition{Name: "b", OnExpiry: 9}, "on_expiry"},
		"duplicate name":         {&gatekeeperv1.Definition{Name: "a"}, "name"},
		"no name":                {&gatekeeperv1.Definition{}, "name"},
	} {
		err := Config{DataDir: "d", Definitions: []*gatekeeperv1.Definition{{Name: "a"}, test.bad}}.Validate()
		e, ok := errors.AsType[*DefinitionError](err)
		if !ok || e.Index != 1 || e.Name != test.bad.GetName() || e.Field != test.field {
			t.Errorf("%s: got %v, want an error for definition 1, field %s", name, err, test.field)
		}
	}
}

func TestWithDefaults_Members_ListensOnItsMemberAddress(t *testing.T) {
	t.Parallel()
	cfg := Config{ID: "gk2", Members: threeMembers()}.withDefaults()
	if cfg.PeerAddress != "10.0.0.2:7421" || cfg.AdvertisePeer != "10.0.0.2:7421" || cfg.APIAddress != DefaultAPIAddress {
		t.Errorf("PeerAddress = %s, AdvertisePeer = %s, APIAddress = %s, want the address from Members and the default", cfg.PeerAddress, cfg.AdvertisePeer, cfg.APIAddress)
	}
	cfg = Config{TLS: TLS{"c", "k", "ca"}}.withDefaults()
	if cfg.ID != DefaultID || cfg.ClusterName != DefaultClusterName || cfg.Profile != ProfileDefault || cfg.PeerTLS != cfg.TLS || cfg.PeerAddress != DefaultPeerAddress {
		t.Errorf("withDefaults() = %+v, want the documented defaults", cfg)
	}
}

func TestAdvertised_PrefersConfiguredAddress(t *testing.T) {
	t.Parallel()
	opened, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	for name, test := range map[string]struct {
		configured, listen string
		listener           net.Listener
		want               string
	}{
		"configured":               {"gk1.example:1", "0.0.0.0:1", nil, "gk1.example:1"},
		"host name to listen on":   {"", "gk1.example:7420", nil, "gk1.example:7420"},
		"any port":                 {"", "127.0.0.1:0", nil, opened.Addr().String()},
		"listener from the caller": {"", "127.0.0.1:7420", opened, opened.Addr().String()},
	} {
		if got := advertised(test.configured, test.listen, test.listener, opened); got != test.want {
			t.Errorf("%s: advertised() = %s, want %s", name, got, test.want)
		}
	}
}
