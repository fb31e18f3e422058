package deffile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Marshal writes definitions as a file that Parse reads back to the same definitions. Absent fields are left out; labels
// are sorted. It fails for what a file cannot hold: text that is not UTF-8, an enumeration value of a newer API.
func Marshal(definitions []*gatekeeperv1.Definition) ([]byte, error) {
	return marshal(definitions, nil)
}

// MarshalRecords writes definitions as Marshal does, each with its version as the last key, so that what is made of the
// file is not applied over somebody else's change. A record without a version is written without the key.
func MarshalRecords(records []*gatekeeperv1.DefinitionRecord) ([]byte, error) {
	definitions := make([]*gatekeeperv1.Definition, len(records))
	for i, r := range records {
		definitions[i] = r.GetDefinition()
	}
	return marshal(definitions, records)
}

// marshal writes definitions, with the versions of their records when those are given.
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

// node builds the entry of one definition, in the order of Keys.
func node(d *gatekeeperv1.Definition) (*yaml.Node, error) {
	entry := &yaml.Node{Kind: yaml.MappingNode}
	set := func(key string, value *yaml.Node) {
		entry.Content = append(entry.Content, text(key), value)
	}
	setText := func(key, v string) {
		if v != "" {
			set(key, text(v))
		}
	}
	setDuration := func(key string, v *durationpb.Duration) {
		if v != nil {
			set(key, plain(FormatDuration(v.AsDuration())))
		}
	}
	set("name", text(d.GetName()))
	setText("description", d.GetDescription())
	if len(d.GetLabels()) > 0 {
		set("labels", labels(d.GetLabels()))
	}
	if d.GroupPattern != nil {
		set("group_pattern", text(d.GetGroupPattern()))
	}
	if d.AcquirerPattern != nil {
		set("acquirer_pattern", text(d.GetAcquirerPattern()))
	}
	if d.Permits != nil {
		set("permits", plain(strconv.FormatUint(uint64(d.GetPermits()), 10)))
	}
	setDuration("duration", d.GetDuration())
	setDuration("max_hold", d.GetMaxHold())
	setDuration("min_hold", d.GetMinHold())
	setDuration("loss_delay", d.GetLossDelay())
	expiry, err := wordOf("on_expiry", d.GetOnExpiry(), onExpiries())
	if err != nil {
		return nil, err
	}
	setText("on_expiry", expiry)
	loss, err := wordOf("firing_on_loss", d.GetFiringOnLoss(), firingsOnLoss())
	if err != nil {
		return nil, err
	}
	setText("firing_on_loss", loss)
	if d.GetTakeover() {
		set("takeover", plain("true"))
	}
	setDuration("expect_every", d.GetExpectEvery())
	setDuration("firing_retention", d.GetFiringRetention())
	if d.FiringLimit != nil {
		set("firing_limit", plain(strconv.FormatUint(uint64(d.GetFiringLimit()), 10)))
	}
	setDuration("firing_max_ahead", d.GetFiringMaxAhead())
	return entry, nil
}

// text is a string; the encoder quotes it where YAML would read something else.
func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// plain is a number, a duration or a boolean, written without quotes.
func plain(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

func labels(m map[string]string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		n.Content = append(n.Content, text(k), text(m[k]))
	}
	return n
}

// wordOf is empty for the zero value, which is left out.
func wordOf[T comparable](key string, v T, of []named[T]) (string, error) {
	if v == *new(T) {
		return "", nil
	}
	for _, c := range of {
		if c.value == v {
			return c.word, nil
		}
	}
	return "", fmt.Errorf("%s has the value %v, which this version does not know", key, v)
}

// FormatDuration writes a duration as people do, without the zeros that time.Duration adds: 1m, 24h, 1h30m, 90ms.
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
