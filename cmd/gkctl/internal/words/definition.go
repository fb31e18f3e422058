package words

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Defaults for unset fields. They are part of the API. A test compares them with the servers' defaults.
const (
	defaultPattern         = ".*"
	defaultPermits         = 1
	defaultDuration        = time.Minute
	defaultFiringRetention = 24 * time.Hour
	defaultFiringLimit     = 1000
	defaultFiringMaxAhead  = 10 * time.Minute
	defaultMisfireWindow   = time.Hour
)

// Complete returns a definition as the servers return it: with all defaults filled in and without durations that have
// no effect. Two definitions are equivalent if their complete forms are equal.
func Complete(d *gatekeeperv1.Definition) *gatekeeperv1.Definition {
	d = proto.CloneOf(d)
	orDefault(&d.GroupPattern, defaultPattern)
	orDefault(&d.AcquirerPattern, defaultPattern)
	orDefault(&d.Permits, defaultPermits)
	orDefault(&d.FiringLimit, defaultFiringLimit)
	if d.Duration == nil {
		d.Duration = durationpb.New(defaultDuration)
	}
	if d.FiringRetention == nil {
		d.FiringRetention = durationpb.New(defaultFiringRetention)
	}
	if d.FiringMaxAhead == nil { // the default is not 0, which means no limit
		d.FiringMaxAhead = durationpb.New(defaultFiringMaxAhead)
	}
	for _, p := range []**durationpb.Duration{&d.MaxHold, &d.MinHold, &d.LossDelay, &d.ExpectEvery} {
		if (*p).AsDuration() == 0 {
			*p = nil
		}
	}
	if d.Misfire == gatekeeperv1.Misfire_MISFIRE_SKIP { // the default
		d.Misfire = gatekeeperv1.Misfire_MISFIRE_UNSPECIFIED
	}
	switch runs := d.Misfire != gatekeeperv1.Misfire_MISFIRE_UNSPECIFIED; {
	case runs && d.MisfireWindow == nil:
		d.MisfireWindow = durationpb.New(defaultMisfireWindow)
	case !runs && d.GetMisfireWindow().AsDuration() == defaultMisfireWindow:
		d.MisfireWindow = nil
	}
	if d.OnExpiry == gatekeeperv1.OnExpiry_ON_EXPIRY_UNSPECIFIED {
		d.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_FREE
	}
	if d.FiringOnLoss == gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_UNSPECIFIED {
		d.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT
	}
	return d
}

func orDefault[T any](field **T, fallback T) {
	if *field == nil {
		*field = &fallback
	}
}

// Equivalent reports whether two definitions are equivalent.
func Equivalent(a, b *gatekeeperv1.Definition) bool { return proto.Equal(Complete(a), Complete(b)) }

// FieldChanges lists the fields in which two definitions differ, with both values.
func FieldChanges(before, after *gatekeeperv1.Definition) []string {
	from, to := fields(before), fields(after)
	var lines []string
	for _, key := range deffile.Keys() {
		if from[key] != to[key] {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", key, cmp.Or(from[key], "(none)"), cmp.Or(to[key], "(none)")))
		}
	}
	if !bytes.Equal(before.ProtoReflect().GetUnknown(), after.ProtoReflect().GetUnknown()) {
		lines = append(lines, "fields unknown to this version of gkctl")
	}
	if len(lines) == 0 {
		return []string{"no fields changed"}
	}
	return lines
}

// fields returns the fields of a definition as they appear in a definitions file, each on one line. It omits fields
// unknown to this version.
func fields(d *gatekeeperv1.Definition) map[string]string {
	out := make(map[string]string)
	d = Complete(d)
	d.ProtoReflect().SetUnknown(nil)
	data, err := deffile.Marshal([]*gatekeeperv1.Definition{d})
	if err != nil {
		return out
	}
	var file struct {
		Definitions []map[string]yaml.Node `yaml:"definitions"`
	}
	if yaml.Unmarshal(data, &file) != nil || len(file.Definitions) != 1 {
		return out
	}
	for key, node := range file.Definitions[0] {
		node.Style |= yaml.FlowStyle
		if text, err := yaml.Marshal(&node); err == nil {
			out[key] = strings.TrimSpace(string(text))
		}
	}
	return out
}
