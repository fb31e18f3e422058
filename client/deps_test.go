package client

import (
	"os/exec"
	"strings"
	"testing"
)

// Applications that import this package must not inherit the server's dependencies.
func TestDependencies_AreAllowed(t *testing.T) {
	allowed := []string{
		"github.com/gatekeeperd/gatekeeper/client",
		"github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1",
		"github.com/gatekeeperd/gatekeeper/internal/tlsfiles", // depends only on gRPC
		"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc",
		"golang.org/x/sys", "golang.org/x/net", "golang.org/x/text", // gRPC depends on the last two
	}
	out := must(exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output())(t)
next:
	for _, path := range strings.Fields(string(out)) {
		for _, a := range allowed {
			if path == a || a != allowed[0] && strings.HasPrefix(path, a+"/") {
				continue next
			}
		}
		t.Errorf("package depends on %s, which is not allowed", path)
	}
}
