package docs

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/servers"
	"github.com/gatekeeperd/gatekeeper/docs/example"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestReadme_GoBlock_IsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage("README.md", string(readme))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("example/example.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(program), "// README begins\n")
	body, _, found := strings.Cut(rest, "\t// README ends")
	if !found || len(p.others) != 1 || p.others[0].kind != "go" {
		t.Fatal("the README has one Go block, and the example its marks")
	}
	if want := strings.TrimPrefix(strings.ReplaceAll(body, "\n\t", "\n"), "\t"); p.others[0].text != want {
		t.Errorf("the README says:\n%s\nthe example is:\n%s", p.others[0].text, want)
	}
}

func TestExample_RunsAFiringOnce(t *testing.T) {
	cluster := startServers(t, &page{servers: 1}, "..")
	t.Setenv("GK_ENDPOINTS", strings.Join(cluster.Endpoints(), ","))
	create(t, cluster, "nightly-export")
	var runs int
	export := func(ctx context.Context) error {
		runs++
		return ctx.Err()
	}
	due := time.Date(2026, 6, 1, 2, 0, 0, 0, time.UTC)
	for range 2 {
		if err := example.Nightly(t.Context(), due, export); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 1 {
		t.Errorf("one firing ran %d times", runs)
	}
}

func create(t *testing.T, cluster *servers.Cluster, name string) {
	t.Helper()
	conn, err := cluster.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	request := &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{Name: name}}
	if _, err := gatekeeperv1.NewDefinitionServiceClient(conn).CreateDefinition(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}
