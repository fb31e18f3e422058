package semaphore

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// More limits that are part of the contract with clients.
const (
	// MaxSpan is the longest max_hold, expect_every, firing_retention and firing_max_ahead: ten years.
	MaxSpan = 10 * 365 * 24 * time.Hour
	// MinExpectEvery is the shortest expect_every.
	MinExpectEvery = time.Second
	// MinFiringRetention is the shortest firing_retention.
	MinFiringRetention = time.Minute
	// MinFiringMaxAhead is the shortest firing_max_ahead.
	MinFiringMaxAhead = time.Second
	// MinMisfireWindow is the shortest misfire_window.
	MinMisfireWindow = time.Second
	// MaxMetadataKey is the maximum length in bytes of a metadata key.
	MaxMetadataKey = 64
)

// Validate checks every field of the definition; maxDuration is the cluster's setting. The error is a *FieldError for
// the first invalid field.
//
// Validate compiles the patterns, and servers may run different Go versions. The leader calls Validate before it
// proposes an edit. The state machine must never call Validate when it applies an edit.
func (d *Definition) Validate(maxDuration time.Duration) error {
	_, patterns := CompilePatterns(d.GroupPattern, d.AcquirerPattern)
	return cmp.Or(
		validSemaphoreName("name", d.Name),
		validDescription(d.Description),
		validLabels(d.Labels),
		patterns,
		validCount("permits", d.Permits, 0, MaxPermits),
		validSpan("duration", d.Duration, MinDuration, maxDuration),
		validOptionalSpan("max_hold", d.MaxHold, MinDuration, MaxSpan),
		validSpan("min_hold", d.MinHold, 0, maxDuration),
		validSpan("loss_delay", d.LossDelay, 0, maxDuration),
		validChoice("on_expiry", d.OnExpiry, OnExpiryFree, OnExpiryHold),
		validChoice("firing_on_loss", d.FiringOnLoss, FiringSpent, FiringFree),
		validOptionalSpan("expect_every", d.ExpectEvery, MinExpectEvery, MaxSpan),
		validSpan("firing_retention", d.FiringRetention, MinFiringRetention, MaxSpan),
		validCount("firing_limit", d.FiringLimit, 1, MaxFiringLimit),
		validMaxAhead(d.FiringMaxAhead),
		validCount("max_attempts", d.MaxAttempts, 0, MaxAttempts),
		validChoice("misfire", d.Misfire, MisfireSkip, MisfireOnce, MisfireEach),
		d.validMisfireWindow(),
	)
}

// Validate checks every field of the request. The caller must have filled in the defaults (group, weight). The error is
// a *FieldError for the first invalid field.
func (r *Request) Validate() error {
	if err := ValidSemaphoreName(r.Semaphore); err != nil {
		return err
	}
	if err := r.Identity.Validate(); err != nil {
		return err
	}
	if err := validCount("weight", r.Weight, 1, MaxPermits); err != nil {
		return err
	}
	if r.Firing != nil {
		return r.Firing.Validate()
	}
	return nil
}

// Validate checks that group, acquirer and holder id are valid names. The error is a *FieldError.
func (id Identity) Validate() error {
	if err := ValidName("identity.group", id.Group); err != nil {
		return err
	}
	if err := ValidName("identity.acquirer", id.Acquirer); err != nil {
		return err
	}
	if id.HolderID == "" {
		return nil
	}
	return ValidName("identity.holder_id", id.HolderID)
}

// Validate checks that the firing has a valid name and that its due time, if any, is in UTC and can be represented in
// 64-bit Unix nanoseconds, the format of the log. The error is a *FieldError.
func (f *Firing) Validate() error {
	if err := ValidName("firing.name", f.Name); err != nil {
		return err
	}
	if f.Due.IsZero() {
		return nil
	}
	first, last := time.Unix(0, math.MinInt64).UTC(), time.Unix(0, math.MaxInt64).UTC()
	if f.Due.Before(first) || f.Due.After(last) {
		return Invalid("firing.due", instant(f.Due), "must be "+instant(first)+" to "+instant(last))
	}
	if f.Due.Location() != time.UTC {
		return Invalid("firing.due", f.Due.Format(time.RFC3339Nano), "must be in UTC")
	}
	return nil
}

// ValidName checks that s is valid UTF-8 of 1 to MaxName bytes without control characters, which is the rule for
// groups, acquirers, holder ids and firing names. The error is a *FieldError for the given field.
func ValidName(field, s string) error { return validText(field, s, 1, MaxName) }

// ValidSemaphoreName checks that s can be the name of a semaphore. It must be a valid name without glob characters, so
// that a name cannot be mistaken for a glob. The error is a *FieldError for the field "semaphore".
func ValidSemaphoreName(s string) error { return validSemaphoreName("semaphore", s) }

// ValidateRequestID checks that s can be a request id. The empty string is valid and means no request id. The error is
// a *FieldError.
func ValidateRequestID(s string) error { return validText("request_id", s, 0, MaxRequestID) }

// ValidateMetadata checks the metadata of a permit: at most MaxMetadata entries, keys of 1 to MaxMetadataKey bytes, and
// values of at most MaxName bytes. The error is a *FieldError.
func ValidateMetadata(m map[string]string) error {
	if len(m) > MaxMetadata {
		return Invalid("metadata", strconv.Itoa(len(m))+" entries", "must be at most "+strconv.Itoa(MaxMetadata)+" entries")
	}
	for _, key := range slices.Sorted(maps.Keys(m)) { // sorted, so that the same map always produces the same error
		if err := validText("metadata.key", key, 1, MaxMetadataKey); err != nil {
			return err
		}
		if err := validText("metadata."+key, m[key], 0, MaxName); err != nil {
			return err
		}
	}
	return nil
}

func validSemaphoreName(field, s string) error {
	if err := ValidName(field, s); err != nil {
		return err
	}
	if strings.ContainsAny(s, "*?[]") {
		return Invalid(field, s, "must not contain any of *?[], which are reserved for globs")
	}
	return nil
}

func validText(field, s string, lo, hi int) error {
	switch {
	case len(s) < lo || len(s) > hi:
		rule := "must be at most " + strconv.Itoa(hi) + " bytes"
		if lo > 0 {
			rule = "must be " + strconv.Itoa(lo) + " to " + strconv.Itoa(hi) + " bytes"
		}
		return Invalid(field, s, rule+", not "+strconv.Itoa(len(s)))
	case !utf8.ValidString(s):
		return Invalid(field, s, "must be valid UTF-8")
	case hasControl(s):
		return Invalid(field, s, "must not contain control characters")
	}
	return nil
}

func validDescription(s string) error {
	switch {
	case len(s) > MaxDescription:
		return Invalid("description", s, "must be at most "+strconv.Itoa(MaxDescription)+" bytes, not "+strconv.Itoa(len(s)))
	case !utf8.ValidString(s):
		return Invalid("description", s, "must be valid UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		// Descriptions are printed on terminals, which interpret control characters.
		return Invalid("description", s, "must not contain control characters except line feeds and tabs")
	}
	return nil
}

func validLabels(labels Labels) error {
	if len(labels) > MaxLabels {
		return Invalid("labels", strconv.Itoa(len(labels))+" labels", "must be at most "+strconv.Itoa(MaxLabels)+" labels")
	}
	for i, label := range labels {
		key := label.Key
		if i > 0 && labels[i-1].Key >= key {
			// Definitions with unsorted or duplicate labels cannot be decoded from the log.
			return Invalid("labels.key", key, "must be unique, and labels must be sorted by key")
		}
		if err := validText("labels.key", key, 1, MaxName); err != nil {
			return err
		}
		if strings.ContainsAny(key, "=,!()") || strings.ContainsFunc(key, unicode.IsSpace) {
			return Invalid("labels.key", key, "must not contain spaces or any of =,!(), which are reserved for selectors")
		}
		if err := validText("labels."+key, label.Value, 0, MaxName); err != nil {
			return err
		}
	}
	return nil
}

func validCount(field string, n, lo, hi uint32) error {
	if n < lo || n > hi {
		return Invalid(field, count(uint64(n)), "must be "+count(uint64(lo))+" to "+count(uint64(hi)))
	}
	return nil
}

func validSpan(field string, d, lo, hi time.Duration) error {
	if d < lo || d > hi {
		return Invalid(field, FormatDuration(d), "must be "+FormatDuration(lo)+" to "+FormatDuration(hi))
	}
	return nil
}

func validOptionalSpan(field string, d, lo, hi time.Duration) error {
	if d != 0 && (d < lo || d > hi) {
		return Invalid(field, FormatDuration(d), "must be 0 (none) or "+FormatDuration(lo)+" to "+FormatDuration(hi))
	}
	return nil
}

// validMaxAhead checks firing_max_ahead. In the API, 0 means no limit, and the error says so.
func validMaxAhead(d time.Duration) error {
	if d == 0 || d == FiringUnbounded || d >= MinFiringMaxAhead && d <= MaxSpan {
		return nil
	}
	return Invalid("firing_max_ahead", FormatDuration(d), "must be 0 (no limit) or "+FormatDuration(MinFiringMaxAhead)+" to "+FormatDuration(MaxSpan))
}

// validMisfireWindow requires the window to be within the retention, because it is unknown whether older firings ran.
func (d *Definition) validMisfireWindow() error {
	if err := validOptionalSpan("misfire_window", d.MisfireWindow, MinMisfireWindow, MaxSpan); err != nil {
		return err
	}
	if d.Misfire == MisfireSkip && d.MisfireWindow != 0 {
		return Invalid("misfire_window", FormatDuration(d.MisfireWindow), "must not be set unless misfire is once or each, because skip runs no missed firings")
	}
	if d.Misfire != MisfireSkip && d.MaxLateness() > d.FiringRetention {
		return Invalid("misfire_window", FormatDuration(d.MaxLateness()), "must be at most firing_retention, which is "+FormatDuration(d.FiringRetention))
	}
	return nil
}

// validChoice checks an enum whose String method returns its name in the API.
func validChoice[T interface {
	~uint8
	String() string
}](field string, v T, choices ...T) error {
	if slices.Contains(choices, v) {
		return nil
	}
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = c.String()
	}
	last := len(words) - 1
	return Invalid(field, v.String(), "must be "+strings.Join(words[:last], ", ")+" or "+words[last])
}
