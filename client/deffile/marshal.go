package deffile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Marshal writes definitions as a file, from which Parse reads the same definitions. It omits absent fields and sorts
// labels. It fails for anything that a file cannot represent: text that is not UTF-8, and fields and enumeration values
// from a newer API.
func Marshal(definitions []*gatekeeperv1.Definition) ([]byte, error) {
	return marshal(definitions, nil)
}

// MarshalRecords is like Marshal, but writes the version of each definition as its last key. The version prevents an
// edited file from being applied over someone else's change. The key is omitted for a record without a version.
func MarshalRecords(records []*gatekeeperv1.DefinitionRecord) ([]byte, error) {
	definitions := make([]*gatekeeperv1.Definition, len(records))
	for i, r := range records {
		definitions[i] = r.GetDefinition()
	}
	return marshal(definitions, records)
}

// marshal writes definitions. Unless records is nil, it adds the records' versions.
func marshal(definitions []*gatekeeperv1.Definition, records []*gatekeeperv1.DefinitionRecord) ([]byte, error) {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i, d := range definitions {
		entry, err := node(d)
		if err != nil {
			return nil, fmt.Errorf("definition %q: %w", d.GetName(), err)
		}
		if records != nil && records[i].GetVersion() != 0 {
			entry.Content = append(entry.Content, text(versionKey), plain(strconv.FormatUint(records[i].GetVersion(), 10)))
		}
		list.Content = append(list.Content, entry)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("definitions"), list}}
	if len(definitions) == 0 {
		list.Style = yaml.FlowStyle
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("write definitions: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write definitions: %w", err)
	}
	return b.Bytes(), nil
}

// node builds a definition's entry, with its keys in the order of Keys.
func node(d *gatekeeperv1.Definition) (*yaml.Node, error) {
	entry := &yaml.Node{Kind: yaml.MappingNode}
	m := d.ProtoReflect()
	if len(m.GetUnknown()) > 0 {
		return nil, errors.New("a newer server returned fields that this version does not recognize and would drop: " +
			"upgrade gkctl or the client library to the servers' version")
	}
	for _, key := range Keys() {
		field := m.Descriptor().Fields().ByTextName(key)
		if !m.Has(field) && key != "name" {
			continue
		}
		if key == "labels" {
			entry.Content = append(entry.Content, text(key), labels(d.GetLabels()))
			continue
		}
		value, err := value(field, m.Get(field))
		if err != nil {
			return nil, err
		}
		entry.Content = append(entry.Content, text(key), value)
	}
	return entry, nil
}

// value builds the node for a field other than labels. It handles every type that parser.value reads.
func value(field protoreflect.FieldDescriptor, v protoreflect.Value) (*yaml.Node, error) {
	switch v := v.Interface().(type) {
	case string:
		return text(v), nil
	case uint32, bool:
		return plain(fmt.Sprint(v)), nil
	case protoreflect.EnumNumber:
		known := field.Enum().Values().ByNumber(v)
		if known == nil {
			return nil, fmt.Errorf("%s has the value %d, which this version does not recognize", field.TextName(), v)
		}
		return text(enumName(field, known)), nil
	case protoreflect.Message:
		if d, ok := v.Interface().(*durationpb.Duration); ok {
			return plain(FormatDuration(d.AsDuration())), nil
		}
	}
	return nil, fmt.Errorf("%s: %s", field.TextName(), unsupportedType)
}

// text returns a string node. The encoder quotes the text if YAML would read it as another type.
func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// plain returns a node for a number, a duration or a boolean, written without quotes.
func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func labels(m map[string]string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n.Content = append(n.Content, text(k), text(m[k]))
	}
	return n
}

// FormatDuration formats a duration without the trailing zero units of time.Duration.String: 1m, 24h, 1h30m, 90ms.
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
