package deffile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// versionKey is the last key of an entry; see Entry.Version.
const versionKey = "version"

const (
	durationName = "google.protobuf.Duration"
	// unsupportedType is the message for an API field of a type that this package does not support.
	unsupportedType = "this version does not support fields of this type in a file"
)

// Keys returns the keys of a definition in the order in which they are written. They are the API's field names. The key
// "version" is not included, because it belongs to the entry.
func Keys() []string {
	fields := (*gatekeeperv1.Definition)(nil).ProtoReflect().Descriptor().Fields()
	keys := make([]string, fields.Len())
	for i := range keys {
		keys[i] = fields.Get(i).TextName()
	}
	return keys
}

// field reads the value of a known key into an entry.
func (p *parser) field(e *Entry, key string, n *yaml.Node) (err error) {
	if err := p.checkPlain(n); err != nil {
		return err
	}
	if n.ShortTag() == "!!null" {
		return p.errorAt(n, "%s has no value: omit the key to use its default", key)
	}
	switch key {
	case "labels":
		e.Definition.Labels, err = p.labels(e, n)
		return err
	case versionKey:
		e.Version, err = p.version(n)
		return err
	}
	d := e.Definition.ProtoReflect()
	field := d.Descriptor().Fields().ByTextName(key)
	v, err := p.value(field, n)
	if err == nil {
		d.Set(field, v)
	}
	return err
}

// value reads the value of a field other than labels according to the field's type.
func (p *parser) value(field protoreflect.FieldDescriptor, n *yaml.Node) (protoreflect.Value, error) {
	key := field.TextName()
	switch {
	case field.Cardinality() == protoreflect.Repeated: // rejected below
	case field.Kind() == protoreflect.StringKind:
		return valueOf(p.text(key, n))
	case field.Kind() == protoreflect.Uint32Kind:
		return valueOf(p.count(key, n))
	case field.Kind() == protoreflect.BoolKind:
		return valueOf(p.boolean(key, n))
	case field.Kind() == protoreflect.EnumKind:
		return valueOf(p.choice(field, n))
	case field.Kind() == protoreflect.MessageKind && field.Message().FullName() == durationName:
		d, err := p.duration(key, n)
		return protoreflect.ValueOfMessage(durationpb.New(d).ProtoReflect()), err
	}
	return protoreflect.Value{}, p.errorAt(n, "%s: %s", key, unsupportedType)
}

func valueOf[T any](v T, err error) (protoreflect.Value, error) { return protoreflect.ValueOf(v), err }

func (p *parser) text(key string, n *yaml.Node) (string, error) {
	if n.ShortTag() == "!!str" {
		return n.Value, nil
	}
	if n.Kind == yaml.ScalarNode {
		return "", p.errorAt(n, "%s must be a string, but YAML reads %s as %s: write %s", key, n.Value, describe(n), strconv.Quote(n.Value))
	}
	return "", p.errorAt(n, "%s must be a string, not %s", key, describe(n))
}

func (p *parser) labels(e *Entry, n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.errorAt(n, "labels must be a mapping, not %s", describe(n))
	}
	labels := make(map[string]string, len(n.Content)/2)
	err := p.mapping(n, nil, func(key, value *yaml.Node) (err error) {
		if err = p.checkPlain(value); err == nil {
			labels[key.Value], err = p.text("label "+key.Value, value)
			e.Fields["labels."+key.Value] = Position{value.Line, value.Column}
		}
		return err
	})
	return labels, err
}

// decimal excludes numbers that YAML reads as octal (010) or hexadecimal, and numbers with underscores, because they
// are rarely intended.
var decimal = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

func (p *parser) count(key string, n *yaml.Node) (uint32, error) {
	if n.ShortTag() == "!!int" && decimal.MatchString(n.Value) {
		if v, err := strconv.ParseUint(n.Value, 10, 32); err == nil {
			return uint32(v), nil
		}
		return 0, p.errorAt(n, "%s %s is too large", key, n.Value)
	}
	return 0, p.errorAt(n, "%s must be a whole number, not %s", key, quoted(n))
}

func (p *parser) version(n *yaml.Node) (uint64, error) {
	if n.ShortTag() == "!!int" && decimal.MatchString(n.Value) {
		if v, err := strconv.ParseUint(n.Value, 10, 64); err == nil && v > 0 {
			return v, nil
		}
	}
	return 0, p.errorAt(n, "%s must be a positive whole number, as returned by the server, not %s: omit the key to replace any version", versionKey, quoted(n))
}

func (p *parser) boolean(key string, n *yaml.Node) (bool, error) {
	if n.ShortTag() == "!!bool" {
		var v bool
		err := n.Decode(&v)
		return v, err
	}
	return false, p.errorAt(n, "%s must be true or false, not %s", key, quoted(n))
}

func (p *parser) duration(key string, n *yaml.Node) (time.Duration, error) {
	if n.Kind == yaml.ScalarNode {
		if d, err := time.ParseDuration(n.Value); err == nil {
			return d, nil
		}
		if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" {
			return 0, p.errorAt(n, "%s %s has no unit: write %ss or %sm, for example", key, n.Value, n.Value, n.Value)
		}
	}
	return 0, p.errorAt(n, "%s must be a duration like 90s, 5m or 1h30m, not %s", key, quoted(n))
}

// choice reads an enumeration value.
func (p *parser) choice(field protoreflect.FieldDescriptor, n *yaml.Node) (protoreflect.EnumNumber, error) {
	var words []string
	values := field.Enum().Values()
	for i := 1; i < values.Len(); i++ { // 0 is "unspecified"
		word := enumName(field, values.Get(i))
		if n.ShortTag() == "!!str" && n.Value == word {
			return values.Get(i).Number(), nil
		}
		words = append(words, word)
	}
	return 0, p.errorAt(n, "%s must be %s, not %s", field.TextName(), strings.Join(words, " or "), quoted(n))
}

// enumName returns the name that files use for an enumeration value: the API's name in lower case, without its field's
// prefix. For example, it returns hold for ON_EXPIRY_HOLD.
func enumName(field protoreflect.FieldDescriptor, v protoreflect.EnumValueDescriptor) string {
	return strings.ToLower(strings.TrimPrefix(string(v.Name()), strings.ToUpper(field.TextName())+"_"))
}

// quoted returns the text of a scalar in quotes. For any other node, it returns a description.
func quoted(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return strconv.Quote(n.Value)
	}
	return describe(n)
}

// describe returns the kind of a node, for use in an error message.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "null"
	case "!!timestamp":
		return "a date"
	}
	return fmt.Sprintf("a %s", n.ShortTag())
}
