// Package prometheus checks the sample rules against a real server's metrics.
package prometheus

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

func TestRules_EveryMetric_IsExported(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	binaries, err := servers.Build(t.TempDir(), "cmd/gatekeeperd")
	if err != nil {
		t.Fatal(err)
	}
	secure, err := servers.NewSecure(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := servers.Start(ctx, servers.Options{Binary: binaries[0], Dir: t.TempDir(), Secure: secure})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Kill()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cluster.Servers[0].Admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	exported, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("gatekeeper.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`\bgatekeeper_\w+`)
	names := metric.FindAllString(string(text), -1)
	if len(names) == 0 {
		t.Fatal("the rules contain no metrics")
	}
	for _, name := range names {
		if !strings.Contains(string(exported), "\n"+name+" ") && !strings.Contains(string(exported), "\n"+name+"{") {
			t.Errorf("the server does not export %s", name)
		}
	}
}

func TestRules_EveryAlert_HasSummaryAndDescription(t *testing.T) {
	text, err := os.ReadFile("gatekeeper.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert       string
				Expr        string
				For         string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) == 0 || len(file.Groups[0].Rules) == 0 {
		t.Fatal("the file contains no rules")
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Expr == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("incomplete rule: %+v", r)
			}
			if r.For != "" {
				if _, err := time.ParseDuration(r.For); err != nil {
					t.Errorf("alert %s has an invalid duration: %v", r.Alert, err)
				}
			}
		}
	}
}
