package gateway

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// notOverHTTP maps each RPC without a route to the reason why it has none.
var notOverHTTP = map[string]string{
	"PermitService.KeepAlive":       "a bidirectional stream; Refresh does the same for a few permits",
	"PermitService.BatchTryAcquire": "for clients with hundreds of requests per second",
	"WorkService.Work":              "a bidirectional stream",
	"ClusterService.SaveSnapshot":   "for gkctl backup, which verifies what it writes",
	"ClusterService.AddMember":      "called by a joining server",
	"AuthService.BindAdministrator": "called by a member on its own behalf",
}

func TestRoutes_EachRPC_HasRouteOrReason(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../proto/http.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		HTTP struct {
			Rules []map[string]string
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	var documented struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(openAPI, &documented); err != nil {
		t.Fatal(err)
	}
	routes := make(map[string]map[string]string)
	for _, rule := range file.HTTP.Rules {
		name := strings.TrimPrefix(rule["selector"], "gatekeeper.v1.")
		routes[name] = rule
		for _, verb := range []string{"get", "put", "post", "delete"} {
			if path := rule[verb]; path != "" && documented.Paths[path][verb].OperationID != strings.ReplaceAll(name, ".", "_") {
				t.Errorf("openapi.swagger.json lacks %s %s for %s: run make generate", verb, path, name)
			}
		}
	}
	streams := make(map[string]string)
	for _, s := range streamRoutes() {
		name := strings.ReplaceAll(strings.TrimPrefix(s.method, "/gatekeeper.v1."), "/", ".")
		streams[name] = strings.ToLower(s.verb) + " " + s.pattern
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("gatekeeper.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			service := f.Services().Get(i)
			for j := range service.Methods().Len() {
				m := service.Methods().Get(j)
				name := string(service.Name()) + "." + string(m.Name())
				rule, why := routes[name], notOverHTTP[name]
				switch {
				case rule == nil && why == "":
					t.Errorf("%s has neither a route in proto/http.yaml nor a reason in notOverHTTP", name)
				case rule != nil && why != "":
					t.Errorf("%s has a route, but is in notOverHTTP", name)
				case rule != nil && m.IsStreamingServer():
					verb, path, _ := strings.Cut(streams[name], " ")
					if path == "" || rule[verb] != path {
						t.Errorf("stream %s: streamRoutes has %q, but proto/http.yaml has %v", name, streams[name], rule)
					}
				}
				delete(routes, name)
			}
		}
		return true
	})
	for name := range routes {
		t.Errorf("proto/http.yaml has a route for %s, which is not an RPC", name)
	}
	if slices.Contains([]bool{len(openAPI) > 0, len(file.HTTP.Rules) > 40}, false) {
		t.Error("openapi.swagger.json or proto/http.yaml has too few routes")
	}
}
