package deffile

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// versionKey is the last key of an entry: see Entry.Version.
const versionKey = "version"

// Keys returns the keys of a definition, in the order in which they are written. They are the API's field names. The key
// "version" is none of them: it is about the entry.
func Keys() []string {
	return []string{
		"name", "description", "labels", "group_pattern", "acquirer_pattern", "permits", "duration", "max_hold", "min_hold",
		"loss_delay", "on_expiry", "firing_on_loss", "takeover", "expect_every", "firing_retention", "firing_limit",
		"firing_max_ahead",
	}
}

// field reads the value of one known key into the definition of an entry.
func (p *parser) field(e *Entry, key string, n *yaml.Node) (err error) {
	d := e.Definition
	if err := p.plain(n); err != nil {
		return err
	}
	if n.ShortTag() == "!!null" {
		return p.at(n, "%s has no value: leave the key out to have its default", key)
	}
	switch key {
	case "name":
		d.Name, err = p.text(key, n)
	case "description":
		d.Description, err = p.text(key, n)
	case "labels":
		d.Labels, err = p.labels(e, n)
	case "group_pattern":
		d.GroupPattern, err = pointer(p.text(key, n))
	case "acquirer_pattern":
		d.AcquirerPattern, err = pointer(p.text(key, n))
	case "permits":
		d.Permits, err = pointer(p.count(key, n))
	case "duration":
		d.Duration, err = p.duration(key, n)
	case "max_hold":
		d.MaxHold, err = p.duration(key, n)
	case "min_hold":
		d.MinHold, err = p.duration(key, n)
	case "loss_delay":
		d.LossDelay, err = p.duration(key, n)
	case "on_expiry":
		d.OnExpiry, err = choice(p, key, n, onExpiries())
	case "firing_on_loss":
		d.FiringOnLoss, err = choice(p, key, n, firingsOnLoss())
	case "takeover":
		d.Takeover, err = p.boolean(key, n)
	case "expect_every":
		d.ExpectEvery, err = p.duration(key, n)
	case "firing_retention":
		d.FiringRetention, err = p.duration(key, n)
	case "firing_limit":
		d.FiringLimit, err = pointer(p.count(key, n))
	case "firing_max_ahead":
		d.FiringMaxAhead, err = p.duration(key, n)
	case versionKey:
		e.Version, err = p.version(n)
	}
	return err
}

func pointer[T any](v T, err error) (*T, error) { return &v, err }

func (p *parser) text(key string, n *yaml.Node) (string, error) {
	if n.ShortTag() == "!!str" {
		return n.Value, nil
	}
	if n.Kind == yaml.ScalarNode {
		return "", p.at(n, "%s must be text, and %s is %s in YAML: write %s", key, n.Value, describe(n), strconv.Quote(n.Value))
	}
	return "", p.at(n, "%s must be text, not %s", key, describe(n))
}

func (p *parser) labels(e *Entry, n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, p.at(n, "labels must be keys and values, not %s", describe(n))
	}
	labels := make(map[string]string, len(n.Content)/2)
	err := p.mapping(n, nil, func(key, value *yaml.Node) (err error) {
		if err = p.plain(value); err == nil {
			labels[key.Value], err = p.text("label "+key.Value, value)
			e.Fields["labels."+key.Value] = Position{value.Line, value.Column}
		}
		return err
	})
	return labels, err
}

// decimal leaves out what YAML reads as octal (010), hexadecimal or with underscores: few people mean it.
var decimal = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

func (p *parser) count(key string, n *yaml.Node) (uint32, error) {
	if n.ShortTag() == "!!int" && decimal.MatchString(n.Value) {
		if v, err := strconv.ParseUint(n.Value, 10, 32); err == nil {
			return uint32(v), nil
		}
		return 0, p.at(n, "%s %s is too large", key, n.Value)
	}
	return 0, p.at(n, "%s must be a whole number, not %s", key, quoted(n))
}

func (p *parser) version(n *yaml.Node) (uint64, error) {
	if n.ShortTag() == "!!int" && decimal.MatchString(n.Value) {
		if v, err := strconv.ParseUint(n.Value, 10, 64); err == nil && v > 0 {
			return v, nil
		}
	}
	return 0, p.at(n, "%s must be a whole number above 0, as the servers gave it, not %s: leave the key out to apply over any version", versionKey, quoted(n))
}

func (p *parser) boolean(key string, n *yaml.Node) (bool, error) {
	if n.ShortTag() == "!!bool" {
		var v bool
		err := n.Decode(&v)
		return v, err
	}
	return false, p.at(n, "%s must be true or false, not %s", key, quoted(n))
}

func (p *parser) duration(key string, n *yaml.Node) (*durationpb.Duration, error) {
	if n.Kind == yaml.ScalarNode {
		if d, err := time.ParseDuration(n.Value); err == nil {
			return durationpb.New(d), nil
		}
		if tag := n.ShortTag(); tag == "!!int" || tag == "!!float" {
			return nil, p.at(n, "%s %s has no unit: write for example %ss or %sm", key, n.Value, n.Value, n.Value)
		}
	}
	return nil, p.at(n, "%s must be a duration like 90s, 5m or 1h30m, not %s", key, quoted(n))
}

// named is a value of an enumeration and its word in files.
type named[T comparable] struct {
	word  string
	value T
}

func onExpiries() []named[gatekeeperv1.OnExpiry] {
	return []named[gatekeeperv1.OnExpiry]{
		{"free", gatekeeperv1.OnExpiry_ON_EXPIRY_FREE},
		{"hold", gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD},
	}
}

func firingsOnLoss() []named[gatekeeperv1.FiringOnLoss] {
	return []named[gatekeeperv1.FiringOnLoss]{
		{"spent", gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT},
		{"free", gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE},
	}
}

// choice reads one of two words.
func choice[T comparable](p *parser, key string, n *yaml.Node, of []named[T]) (none T, err error) {
	for _, c := range of {
		if n.ShortTag() == "!!str" && n.Value == c.word {
			return c.value, nil
		}
	}
	return none, p.at(n, "%s must be %s or %s, not %s", key, of[0].word, of[1].word, quoted(n))
}

// quoted is the text of a scalar in quotes; of anything else, what it is.
func quoted(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return strconv.Quote(n.Value)
	}
	return describe(n)
}

// describe says what a node is, for a person.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return fmt.Sprintf("a %s", n.ShortTag())
}
