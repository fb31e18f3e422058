package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// loadOptions parses args, loads the remaining options, and returns the result.
func loadOptions(t *testing.T, env environment, args ...string) (*options, error) {
	t.Helper()
	var o options
	flags := o.flags(env)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &o, load(flags, env)
}

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatekeeperd.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_Precedence_FlagsThenVariablesThenFileThenDefaults(t *testing.T) {
	config := writeConfig(t, `
id: from-file
cluster-name: from-file
api-address: 10.0.0.1:1
dump-interval: 1m
members: [gk1=10.0.0.1:7421, gk2=10.0.0.2:7421]
join: 10.0.0.1:7420,10.0.0.2:7420
`)
	env := environment{variables: []string{
		"HOME=/home/u", "GATEKEEPER_ID=from-variable", "GATEKEEPER_API_ADDRESS=10.0.0.1:2", "GATEKEEPER_CONFIG=" + config,
		"GATEKEEPER_ADMIN_ADDRESS=",
	}}
	o, err := loadOptions(t, env, "--id", "from-flag")
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string][2]string{
		"flag over variable over file":              {o.id, "from-flag"},
		"variable over file":                        {o.apiAddress, "10.0.0.1:2"},
		"file over default":                         {o.clusterName, "from-file"},
		"default":                                   {o.logFormat, "text"},
		"empty variable over default":               {o.adminAddress, ""},
		"default data directory in the user's home": {o.dataDir, "/home/u/.local/state/gatekeeper"},
		"duration from the file":                    {o.dumpInterval.String(), time.Minute.String()},
		"list from the file":                        {strings.Join(o.members, " "), "gk1=10.0.0.1:7421 gk2=10.0.0.2:7421"},
		"comma-separated list":                      {strings.Join(o.join, " "), "10.0.0.1:7420 10.0.0.2:7420"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: got %q, want %q", what, got[0], got[1])
		}
	}
}

func TestLoad_Variables_SetFlags(t *testing.T) {
	var o options
	var got []string
	env := environment{}
	flags := o.flags(env)
	env.variables = append(env.variables, []string{"GATEKEEPER_TLS_CERT=c", "GATEKEEPER_PEER_TLS_CA=ca", "GATEKEEPER_SHUTDOWN_TIMEOUT=3s"}...)
	if err := load(flags, env); err != nil {
		t.Fatal(err)
	}
	got = append(got, o.tls.CertFile, o.peerTLS.CAFile, o.shutdownTimeout.String())
	if diff := cmp.Diff([]string{"c", "ca", "3s"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestLoad_NumbersAndBooleansInFile_AreParsedAsText(t *testing.T) {
	o, err := loadOptions(t, environment{}, "--config", writeConfig(t, `
id: 007
cluster-name: 2026-06-01
bearer-tokens: true
insecure: false
max-calls: 100
dump-interval: 0
join: [1, true, &other 1.50]
admin: *other
`))
	if err != nil {
		t.Fatal(err)
	}
	got := []any{o.id, o.clusterName, o.bearerTokens, o.insecure, o.maxCalls, o.dumpInterval, o.join, o.admin}
	want := []any{"007", "2026-06-01", true, false, 100, time.Duration(0), []string{"1", "true", "1.50"}, "1.50"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestLoad_Errors_SuggestNearestName(t *testing.T) {
	for name, test := range map[string]struct {
		config    string
		variables []string
		want      string
	}{
		"unknown key":                    {config: "api-adress: a:1\n", want: `: unknown key "api-adress"; did you mean api-address?`},
		"nested key":                     {config: "tls: {cert: a}\n", want: `: unknown key "tls"`},
		"config in the file":             {config: "config: other\n", want: `: unknown key "config"`},
		"dissimilar key":                 {config: "colour: red\n", want: `: unknown key "colour"; valid names are id, cluster-name,`},
		"map in list":                    {config: "join: [a, {b: c}]\n", want: ": join: must be a list of strings: element 2 is not a string"},
		"yes as a boolean":               {config: "insecure: yes\n", want: `.yaml: insecure: "yes" is not a boolean: write true or false`},
		"yes in a variable":              {variables: []string{"GATEKEEPER_INSECURE=yes"}, want: `GATEKEEPER_INSECURE: "yes" is not a boolean: write true or false`},
		"text as a number":               {config: "max-calls: many\n", want: `.yaml: max-calls: "many" is not a number`},
		"list as text":                   {config: "id: [a]\n", want: ": id: must be a single value, not a list"},
		"map as text":                    {config: "id: {a: b}\n", want: ": id: must be a single value, not a mapping"},
		"no value":                       {config: "id:\n", want: ": id: has no value"},
		"no unit":                        {config: "dump-interval: 30\n", want: ": dump-interval: 30 has no unit: write 30s"},
		"bad duration":                   {config: "dump-interval: soon\n", want: ": dump-interval: "},
		"not YAML":                       {config: "id: [\n", want: "configuration file "},
		"duplicate key":                  {config: "id: a\nid: b\n", want: "already defined"},
		"unknown variable":               {variables: []string{"GATEKEEPER_API_ADRESS=a:1"}, want: "unknown variable GATEKEEPER_API_ADRESS; did you mean GATEKEEPER_API_ADDRESS?"},
		"bad variable":                   {variables: []string{"GATEKEEPER_DUMP_INTERVAL=30"}, want: "GATEKEEPER_DUMP_INTERVAL: "},
		"service variable outside a pod": {variables: []string{"GATEKEEPER_PORT=tcp://10.0.0.1:7420"}, want: "unknown variable GATEKEEPER_PORT"},
		"no such file":                   {variables: []string{"GATEKEEPER_CONFIG=/no/such/file"}, want: "configuration file: open /no/such/file"},
		"unknown variable in a pod":      {variables: []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "GATEKEEPER_IDD=a"}, want: "unknown variable GATEKEEPER_IDD; did you mean GATEKEEPER_ID?"},
	} {
		t.Run(name, func(t *testing.T) {
			env := environment{variables: test.variables}
			if test.config != "" {
				env.variables = append(env.variables, "GATEKEEPER_CONFIG="+writeConfig(t, test.config))
			}
			_, err := loadOptions(t, env)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("load() = %v, want an error containing %s", err, test.want)
			}
			if exitCode(err) != exitUsage {
				t.Errorf("exitCode(%v) = %d, want %d", err, exitCode(err), exitUsage)
			}
		})
	}
}

func TestLoad_KubernetesServiceVariables_AreIgnored(t *testing.T) {
	env := environment{variables: []string{
		"KUBERNETES_SERVICE_HOST=10.0.0.1", "GATEKEEPER_SERVICE_HOST=10.0.0.2", "GATEKEEPER_SERVICE_PORT=7420", "GATEKEEPER_PORT=tcp://10.0.0.2:7420",
		"GATEKEEPER_PORT_7420_TCP=tcp://10.0.0.2:7420", "GATEKEEPER_PORT_7420_TCP_PROTO=tcp", "GATEKEEPER_PORT_7420_TCP_PORT=7420",
		"GATEKEEPER_PORT_7420_TCP_ADDR=10.0.0.2", "GATEKEEPER_SERVICE_PORT_API=7420", "GATEKEEPER_PEERS_SERVICE_HOST=10.0.0.3",
		"GATEKEEPER_ID=gk7",
	}}
	o, err := loadOptions(t, env)
	if err != nil || o.id != "gk7" {
		t.Errorf("load() = %v, id = %q; want nil, gk7", err, o.id)
	}
}

func TestDefaultDataDir_DependsOnUser(t *testing.T) {
	for name, test := range map[string]struct {
		env  environment
		want string
	}{
		"root":           {environment{root: true, variables: []string{"HOME=/root"}}, "/var/lib/gatekeeper"},
		"state home":     {environment{variables: []string{"HOME=/h", "XDG_STATE_HOME=/s"}}, "/s/gatekeeper"},
		"relative state": {environment{variables: []string{"HOME=/h", "XDG_STATE_HOME=s"}}, "/h/.local/state/gatekeeper"},
		"home":           {environment{variables: []string{"HOME=/h"}}, "/h/.local/state/gatekeeper"},
		"no home":        {environment{}, ""},
	} {
		if got := defaultDataDir(test.env); got != test.want {
			t.Errorf("%s: defaultDataDir() = %q, want %q", name, got, test.want)
		}
	}
}
