package deffile

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestMarshal_FieldFromNewerServer_ReturnsError(t *testing.T) {
	d := &gatekeeperv1.Definition{Name: "a"}
	d.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7))
	for name, marshal := range map[string]func() ([]byte, error){
		"Marshal":        func() ([]byte, error) { return Marshal([]*gatekeeperv1.Definition{d}) },
		"MarshalRecords": func() ([]byte, error) { return MarshalRecords([]*gatekeeperv1.DefinitionRecord{{Definition: d}}) },
	} {
		data, err := marshal()
		if err == nil || !strings.Contains(err.Error(), `definition "a"`) || !strings.Contains(err.Error(), "gkctl") {
			t.Errorf("%s = %v, want an error naming the definition and gkctl\n%s", name, err, data)
		}
	}
}

// A newer API may have fields of types that this package does not support yet. They are rejected.
func TestValue_UnsupportedType_ReturnsAnError(t *testing.T) {
	r := &gatekeeperv1.DefinitionRecord{Version: 1, UpdatedAt: timestamppb.Now(), Warnings: []string{"w"}}
	for _, name := range []protoreflect.Name{"version", "updated_at", "warnings", "definition"} {
		m := r.ProtoReflect()
		field := m.Descriptor().Fields().ByName(name)
		if n, err := value(field, m.Get(field)); err == nil || !strings.Contains(err.Error(), string(name)) {
			t.Errorf("value(%s) = %v, %v, want an error naming the field", name, n, err)
		}
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: "1s"}
		if v, err := new(parser).value(field, n); err == nil || !strings.Contains(err.Error(), string(name)) {
			t.Errorf("parser.value(%s) = %v, %v, want an error naming the field", name, v, err)
		}
	}
}
