package api

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// DefinitionFrom converts a definition and fills in every default. The keeper validates ranges and patterns, because it
// has access to the cluster's limits. An explicitly empty pattern or an explicit zero is passed through for the keeper
// to refuse. The error is a *semaphore.FieldError.
func DefinitionFrom(m *gatekeeperv1.Definition) (*semaphore.Definition, error) {
	if m == nil {
		m = new(gatekeeperv1.Definition)
	}
	d := &semaphore.Definition{
		Name:            m.GetName(),
		Description:     m.GetDescription(),
		Labels:          semaphore.LabelsOf(m.GetLabels()),
		Takeover:        m.GetTakeover(),
		GroupPattern:    orDefault(m.GroupPattern, semaphore.DefaultPattern),
		AcquirerPattern: orDefault(m.AcquirerPattern, semaphore.DefaultPattern),
		Permits:         orDefault(m.Permits, semaphore.DefaultPermits),
		FiringLimit:     orDefault(m.FiringLimit, semaphore.DefaultFiringLimit),
		MaxAttempts:     m.GetMaxAttempts(),
	}
	for _, f := range []struct {
		name   string
		from   *durationpb.Duration
		absent time.Duration
		to     *time.Duration
	}{
		{"duration", m.GetDuration(), semaphore.DefaultDuration, &d.Duration},
		{"max_hold", m.GetMaxHold(), 0, &d.MaxHold},
		{"min_hold", m.GetMinHold(), 0, &d.MinHold},
		{"loss_delay", m.GetLossDelay(), 0, &d.LossDelay},
		{"expect_every", m.GetExpectEvery(), 0, &d.ExpectEvery},
		{"firing_retention", m.GetFiringRetention(), semaphore.DefaultFiringRetention, &d.FiringRetention},
	} {
		var err error
		if *f.to, err = durationFrom(f.name, f.from, f.absent); err != nil {
			return nil, err
		}
	}
	ahead, err := durationFrom("firing_max_ahead", m.GetFiringMaxAhead(), semaphore.DefaultFiringMaxAhead)
	switch {
	case err != nil:
		return nil, err
	case ahead == 0:
		d.FiringMaxAhead = semaphore.FiringUnbounded
	case ahead < 0:
		return nil, invalid("firing_max_ahead", ahead.String(), "must be 0 (no limit) or at least 1s")
	case ahead != semaphore.DefaultFiringMaxAhead: // the default is stored as 0, which every feature level supports
		d.FiringMaxAhead = ahead
	}
	window, err := durationFrom("misfire_window", m.GetMisfireWindow(), semaphore.DefaultMisfireWindow)
	switch {
	case err != nil:
		return nil, err
	case window == 0:
		return nil, invalid("misfire_window", "0s", "must be at least 1s; to skip missed firings, set misfire: skip")
	case window != semaphore.DefaultMisfireWindow: // stored as 0, as above
		d.MisfireWindow = window
	}
	switch n := m.GetMisfire(); n {
	case gatekeeperv1.Misfire_MISFIRE_UNSPECIFIED, gatekeeperv1.Misfire_MISFIRE_SKIP:
		d.Misfire = semaphore.MisfireSkip
	case gatekeeperv1.Misfire_MISFIRE_ONCE:
		d.Misfire = semaphore.MisfireOnce
	case gatekeeperv1.Misfire_MISFIRE_EACH:
		d.Misfire = semaphore.MisfireEach
	default:
		return nil, invalid("misfire", strconv.Itoa(int(n)), "must be MISFIRE_SKIP, MISFIRE_ONCE or MISFIRE_EACH")
	}
	switch n := m.GetOnExpiry(); n {
	case gatekeeperv1.OnExpiry_ON_EXPIRY_UNSPECIFIED, gatekeeperv1.OnExpiry_ON_EXPIRY_FREE:
		d.OnExpiry = semaphore.OnExpiryFree
	case gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD:
		d.OnExpiry = semaphore.OnExpiryHold
	default:
		return nil, invalid("on_expiry", strconv.Itoa(int(n)), "must be ON_EXPIRY_FREE or ON_EXPIRY_HOLD")
	}
	switch n := m.GetFiringOnLoss(); n {
	case gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_UNSPECIFIED, gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT:
		d.FiringOnLoss = semaphore.FiringSpent
	case gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE:
		d.FiringOnLoss = semaphore.FiringFree
	default:
		return nil, invalid("firing_on_loss", strconv.Itoa(int(n)), "must be FIRING_ON_LOSS_SPENT or FIRING_ON_LOSS_FREE")
	}
	return d, nil
}

func orDefault[T any](v *T, absent T) T {
	if v == nil {
		return absent
	}
	return *v
}

// toDefinition converts a definition so that DefinitionFrom restores it unchanged.
func toDefinition(d *semaphore.Definition) *gatekeeperv1.Definition {
	ahead, _ := d.MaxAhead() // 0 if there is no bound
	m := &gatekeeperv1.Definition{
		Name:            d.Name,
		Description:     d.Description,
		Labels:          d.Labels.Map(),
		GroupPattern:    &d.GroupPattern,
		AcquirerPattern: &d.AcquirerPattern,
		Permits:         &d.Permits,
		Duration:        durationpb.New(d.Duration),
		MaxHold:         toOptionalDuration(d.MaxHold),
		MinHold:         toOptionalDuration(d.MinHold),
		LossDelay:       toOptionalDuration(d.LossDelay),
		OnExpiry:        gatekeeperv1.OnExpiry(d.OnExpiry),
		FiringOnLoss:    gatekeeperv1.FiringOnLoss(d.FiringOnLoss),
		Takeover:        d.Takeover,
		ExpectEvery:     toOptionalDuration(d.ExpectEvery),
		FiringRetention: durationpb.New(d.FiringRetention),
		FiringLimit:     &d.FiringLimit,
		FiringMaxAhead:  durationpb.New(ahead),
		MaxAttempts:     d.MaxAttempts,
	}
	if d.Misfire != semaphore.MisfireSkip { // the default is omitted, like a limit of 0
		m.Misfire = gatekeeperv1.Misfire(d.Misfire) + gatekeeperv1.Misfire_MISFIRE_SKIP // the API uses 0 for unset
	}
	if d.Misfire != semaphore.MisfireSkip || d.MisfireWindow != 0 {
		m.MisfireWindow = durationpb.New(d.MaxLateness())
	}
	return m
}

// toRecord converts a definition with the author and time of its last edit. The caller adds the fields that are derived
// from the state; see record.
func toRecord(s *fsm.StoredDefinition) *gatekeeperv1.DefinitionRecord {
	if s == nil {
		return nil
	}
	return &gatekeeperv1.DefinitionRecord{
		Definition:      toDefinition(s.Definition),
		Version:         s.Version,
		UpdatedBy:       s.UpdatedBy,
		UpdatedAt:       toTimestamp(s.UpdatedAt),
		Reason:          s.Reason,
		Pause:           toPause(s.Pause),
		CreatedRevision: s.CreatedRevision,
	}
}
