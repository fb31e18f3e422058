package semaphore

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDefinition_Validate_EachField(t *testing.T) {
	manyLabels := map[string]string{}
	for i := range MaxLabels + 1 {
		manyLabels[strconv.Itoa(i)] = ""
	}
	for _, test := range []struct {
		want string // the expected error, or ""
		set  func(*Definition)
	}{
		{``, func(*Definition) {}},
		{``, func(d *Definition) { d.Name = strings.Repeat("n", 256) }},
		{``, func(d *Definition) { d.Name = "nightly export/ü" }},
		{`name "": must be 1 to 256 bytes, not 0`, func(d *Definition) { d.Name = "" }},
		{`name "` + strings.Repeat("n", 77) + `…": must be 1 to 256 bytes, not 257`, func(d *Definition) { d.Name = strings.Repeat("n", 257) }},
		{`name "a\xffb": must be valid UTF-8`, func(d *Definition) { d.Name = "a\xffb" }},
		{`name "a\nb": must not contain control characters`, func(d *Definition) { d.Name = "a\nb" }},
		{`name "a\u0085b": must not contain control characters`, func(d *Definition) { d.Name = "a\u0085b" }},
		{`name "night*": must not contain any of *?[], which are reserved for globs`, func(d *Definition) { d.Name = "night*" }},
		{`name "a]": must not contain any of *?[], which are reserved for globs`, func(d *Definition) { d.Name = "a]" }},

		{``, func(d *Definition) { d.Description = "two\nlines,\ta tab, " + strings.Repeat("d", 4000) }},
		{`description "` + strings.Repeat("d", 77) + `…": must be at most 4096 bytes, not 4097`, func(d *Definition) { d.Description = strings.Repeat("d", 4097) }},
		{`description "\x1b[2J": must not contain control characters except line feeds and tabs`, func(d *Definition) { d.Description = "\x1b[2J" }},
		{`description "\xc3": must be valid UTF-8`, func(d *Definition) { d.Description = "\xc3" }},

		{``, func(d *Definition) {
			d.Labels = LabelsOf(map[string]string{"team": "data", "k8s.io/role": "", "ü": "a b=c"})
		}},
		{`labels "65 labels": must be at most 64 labels`, func(d *Definition) { d.Labels = LabelsOf(manyLabels) }},
		{`labels.key "": must be 1 to 256 bytes, not 0`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"": "x"}) }},
		{`labels.key "a b": must not contain spaces or any of =,!(), which are reserved for selectors`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"a b": "x"}) }},
		{`labels.key "a": must be unique, and labels must be sorted by key`, func(d *Definition) { d.Labels = Labels{{"a", "1"}, {"a", "2"}} }},
		{`labels.key "a": must be unique, and labels must be sorted by key`, func(d *Definition) { d.Labels = Labels{{"b", "1"}, {"a", "2"}} }},
		{`labels.key "!a": must not contain spaces or any of =,!(), which are reserved for selectors`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"!a": "x", "z=": "x"}) }},
		{`labels.key "a\x00": must not contain control characters`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"a\x00": "x"}) }},
		{`labels.team "` + strings.Repeat("v", 77) + `…": must be at most 256 bytes, not 257`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"team": strings.Repeat("v", 257)}) }},
		{`labels.team "\xff": must be valid UTF-8`, func(d *Definition) { d.Labels = LabelsOf(map[string]string{"team": "\xff"}) }},

		{`group_pattern "": must not be empty: omit it, or use ".*", to admit everyone`, func(d *Definition) { d.GroupPattern = "" }},
		{`acquirer_pattern "app[": must be a pattern in RE2 syntax: missing closing ] at "["`, func(d *Definition) { d.AcquirerPattern = "app[" }},

		{``, func(d *Definition) { d.Permits = 0 }},
		{``, func(d *Definition) { d.Permits = 1_000_000 }},
		{`permits "1000001": must be 0 to 1000000`, func(d *Definition) { d.Permits = 1_000_001 }},

		{``, func(d *Definition) { d.Duration = 100 * time.Millisecond }},
		{``, func(d *Definition) { d.Duration = time.Hour }},
		{`duration "50ms": must be 100ms to 1h`, func(d *Definition) { d.Duration = 50 * time.Millisecond }},
		{`duration "1h1m": must be 100ms to 1h`, func(d *Definition) { d.Duration = 61 * time.Minute }},
		{`duration "-1s": must be 100ms to 1h`, func(d *Definition) { d.Duration = -time.Second }},

		{``, func(d *Definition) { d.MaxHold = 24 * time.Hour }},
		{``, func(d *Definition) { d.MaxHold = MaxSpan }},
		{`max_hold "99ms": must be 0 (none) or 100ms to 87600h`, func(d *Definition) { d.MaxHold = 99 * time.Millisecond }},
		{`max_hold "-1ns": must be 0 (none) or 100ms to 87600h`, func(d *Definition) { d.MaxHold = -1 }},
		{`max_hold "87600h0m0.000000001s": must be 0 (none) or 100ms to 87600h`, func(d *Definition) { d.MaxHold = MaxSpan + 1 }},

		{``, func(d *Definition) { d.MinHold, d.LossDelay = 1, time.Hour }},
		{`min_hold "-1ns": must be 0s to 1h`, func(d *Definition) { d.MinHold = -1 }},
		{`min_hold "1h0m1s": must be 0s to 1h`, func(d *Definition) { d.MinHold = time.Hour + time.Second }},
		{`loss_delay "2h": must be 0s to 1h`, func(d *Definition) { d.LossDelay = 2 * time.Hour }},

		{`on_expiry "on_expiry 0": must be free or hold`, func(d *Definition) { d.OnExpiry = 0 }},
		{`on_expiry "on_expiry 3": must be free or hold`, func(d *Definition) { d.OnExpiry = 3 }},
		{`firing_on_loss "firing_on_loss 9": must be spent or free`, func(d *Definition) { d.FiringOnLoss = 9 }},
		{`max_attempts "1001": must be 0 to 1000`, func(d *Definition) { d.MaxAttempts = 1001 }},
		{`misfire "misfire 9": must be skip, once or each`, func(d *Definition) { d.Misfire = 9 }},
		{`misfire_window "1ms": must be 0 (none) or 1s to 87600h`, func(d *Definition) { d.MisfireWindow = time.Millisecond }},
		{`misfire_window "2h": must not be set unless misfire is once or each, because skip runs no missed firings`, func(d *Definition) { d.MisfireWindow = 2 * time.Hour }},
		{`misfire_window "1h": must be at most firing_retention, which is 30m`, func(d *Definition) { d.Misfire, d.FiringRetention = MisfireEach, 30*time.Minute }},

		{``, func(d *Definition) { d.ExpectEvery = time.Second }},
		{`expect_every "1ms": must be 0 (none) or 1s to 87600h`, func(d *Definition) { d.ExpectEvery = time.Millisecond }},
		{`firing_retention "59s": must be 1m to 87600h`, func(d *Definition) { d.FiringRetention = 59 * time.Second }},
		{`firing_limit "0": must be 1 to 100000`, func(d *Definition) { d.FiringLimit = 0 }},
		{`firing_limit "100001": must be 1 to 100000`, func(d *Definition) { d.FiringLimit = 100_001 }},

		{``, func(d *Definition) { d.FiringMaxAhead = FiringUnbounded }},
		{``, func(d *Definition) { d.FiringMaxAhead = MinFiringMaxAhead }},
		{``, func(d *Definition) { d.FiringMaxAhead = MaxSpan }},
		{`firing_max_ahead "-1s": must be 0 (no limit) or 1s to 87600h`, func(d *Definition) { d.FiringMaxAhead = -time.Second }},
		{`firing_max_ahead "1ms": must be 0 (no limit) or 1s to 87600h`, func(d *Definition) { d.FiringMaxAhead = time.Millisecond }},

		{`name "?": must not contain any of *?[], which are reserved for globs`, func(d *Definition) { d.Name, d.GroupPattern, d.Duration = "?", "(", 0 }},
		{`group_pattern "(": must be a pattern in RE2 syntax: missing closing )`, func(d *Definition) { d.GroupPattern, d.Duration = "(", 0 }},
	} {
		d := defaultDefinition("export")
		test.set(d)
		checkError(t, d.Validate(DefaultMaxDuration), test.want)
	}
}

func TestDefinition_Validate_UsesClusterMaximum(t *testing.T) {
	d := defaultDefinition("export")
	d.Duration, d.MinHold, d.LossDelay = 2*time.Hour, 2*time.Hour, 2*time.Hour
	checkError(t, d.Validate(2*time.Hour), "")
	checkError(t, d.Validate(90*time.Minute), `duration "2h": must be 100ms to 1h30m`)
}

func TestRequest_Validate_EachField(t *testing.T) {
	for _, test := range []struct {
		want string
		set  func(*Request)
	}{
		{``, func(*Request) {}},
		{``, func(r *Request) { r.Identity.HolderID = strings.Repeat("h", 256) }},
		{``, func(r *Request) { r.Weight, r.Firing = 1_000_000, &Firing{Name: "f"} }},
		{`semaphore "": must be 1 to 256 bytes, not 0`, func(r *Request) { r.Semaphore = "" }},
		{`semaphore "a*": must not contain any of *?[], which are reserved for globs`, func(r *Request) { r.Semaphore = "a*" }},
		{`identity.group "": must be 1 to 256 bytes, not 0`, func(r *Request) { r.Identity.Group = "" }},
		{`identity.acquirer "a\tb": must not contain control characters`, func(r *Request) { r.Identity.Acquirer = "a\tb" }},
		{`identity.holder_id "\x80": must be valid UTF-8`, func(r *Request) { r.Identity.HolderID = "\x80" }},
		{`weight "0": must be 1 to 1000000`, func(r *Request) { r.Weight = 0 }},
		{`weight "4294967295": must be 1 to 1000000`, func(r *Request) { r.Weight = math.MaxUint32 }},
		{`firing.name "": must be 1 to 256 bytes, not 0`, func(r *Request) { r.Firing = &Firing{} }},
		{``, func(r *Request) { r.Firing = &Firing{"f", time.Unix(0, math.MaxInt64).UTC()} }},
		{``, func(r *Request) { r.Firing = &Firing{"f", time.Unix(0, math.MinInt64).UTC()} }},
		{`firing.due "2262-04-11T23:47:16.854775808Z": must be 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z`,
			func(r *Request) { r.Firing = &Firing{"f", time.Unix(0, math.MaxInt64).Add(1).UTC()} }},
		{`firing.due "1677-09-21T00:12:43.145224191Z": must be 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z`,
			func(r *Request) { r.Firing = &Firing{"f", time.Unix(0, math.MinInt64).Add(-1).UTC()} }},
		{`firing.due "2026-03-02T07:00:00+01:00": must be in UTC`,
			func(r *Request) { r.Firing = &Firing{"f", due.In(time.FixedZone("CET", 3600))} }},
	} {
		r := newRequest()
		test.set(r)
		checkError(t, r.Validate(), test.want)
	}
}

func TestValidateMetadata_EachRule(t *testing.T) {
	many := map[string]string{}
	for i := range MaxMetadata {
		many[strconv.Itoa(i)] = strings.Repeat("v", MaxName)
	}
	checkError(t, ValidateMetadata(nil), "")
	checkError(t, ValidateMetadata(many), "")
	many["one more"] = ""
	checkError(t, ValidateMetadata(many), `metadata "17 entries": must be at most 16 entries`)
	checkError(t, ValidateMetadata(map[string]string{"": ""}), `metadata.key "": must be 1 to 64 bytes, not 0`)
	checkError(t, ValidateMetadata(map[string]string{strings.Repeat("k", 65): ""}),
		`metadata.key "`+strings.Repeat("k", 65)+`": must be 1 to 64 bytes, not 65`)
	checkError(t, ValidateMetadata(map[string]string{"pid": "\xff"}), `metadata.pid "\xff": must be valid UTF-8`)
	for range 20 { // regardless of map order
		checkError(t, ValidateMetadata(map[string]string{"a": "\n", "b": "\n", "c": "\n"}), `metadata.a "\n": must not contain control characters`)
	}
}

func TestValidateRequestID_Limits(t *testing.T) {
	checkError(t, ValidateRequestID(""), "")
	checkError(t, ValidateRequestID(strings.Repeat("r", 128)), "")
	checkError(t, ValidateRequestID(strings.Repeat("r", 129)), `request_id "`+strings.Repeat("r", 77)+`…": must be at most 128 bytes, not 129`)
	checkError(t, ValidateRequestID("\x00"), `request_id "\x00": must not contain control characters`)
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		var bad *FieldError
		if !errors.As(err, &bad) {
			t.Errorf("Validate() = %v, want a *FieldError", err)
		}
		got = err.Error()
	}
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// FuzzName checks that exactly the valid names are accepted, and that show returns short, printable text for any name.
func FuzzName(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		isName := name != "" && len(name) <= MaxName && utf8.ValidString(name)
		for _, r := range name {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				isName = false
			}
		}
		err := ValidName("identity.group", name)
		if (err == nil) != isName {
			t.Fatalf("ValidName(%q) = %v", name, err)
		}
		if globs := strings.ContainsAny(name, "*?[]"); (ValidSemaphoreName(name) == nil) != (isName && !globs) {
			t.Fatalf("ValidSemaphoreName(%q) = %v", name, ValidSemaphoreName(name))
		}
		shown := show(name)
		if len(shown) > MaxShown || !utf8.ValidString(shown) || hasControl(shown) || show(shown) != shown {
			t.Fatalf("show(%q) = %q", name, shown)
		}
		if isName && len(name) <= MaxShown && shown != name {
			t.Fatalf("show(%q) = %q, want it unchanged", name, shown)
		}
	})
}

func TestFormatDuration_OmitsZeroUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", time.Minute: "1m", time.Hour: "1h", 90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s",
		10 * time.Minute: "10m", 10 * time.Hour: "10h", 20 * time.Second: "20s", 100 * time.Millisecond: "100ms", -time.Hour: "-1h",
		time.Minute + 10*time.Second: "1m10s", time.Hour + 20*time.Minute: "1h20m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%v) = %s, want %s", d, got, want)
		}
	}
}

// This test fails if a field is added to Definition but not to Equal and Clone.
func TestDefinition_EqualAndClone_CoverEveryField(t *testing.T) {
	for i := range reflect.TypeFor[Definition]().NumField() {
		d, o := defaultDefinition("export"), defaultDefinition("export")
		v := reflect.ValueOf(o).Elem().Field(i)
		switch v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			v.Set(reflect.ValueOf(Labels{{"a", "b"}}))
		case reflect.Int64:
			v.SetInt(77)
		default:
			v.SetUint(77)
		}
		field := reflect.TypeFor[Definition]().Field(i).Name
		if d.Equal(o) || o.Equal(d) {
			t.Errorf("Equal ignores %s", field)
		}
		if c := o.Clone(); !c.Equal(o) || !reflect.DeepEqual(c, o) {
			t.Errorf("Clone does not copy %s", field)
		}
	}
}

func TestDefinition_EqualAndClone_HandleNilAndLabels(t *testing.T) {
	var none *Definition
	d := defaultDefinition("export")
	if none.Clone() != nil || !none.Equal(nil) || none.Equal(d) || d.Equal(none) {
		t.Error("Equal or Clone returned the wrong result for a nil definition")
	}
	empty := defaultDefinition("export")
	empty.Labels = Labels{}
	if !d.Equal(empty) {
		t.Error("Equal distinguishes empty labels from nil labels")
	}
	d.Labels = LabelsOf(map[string]string{"team": "data"})
	c := d.Clone()
	c.Labels[0].Value = "web"
	if !slices.Equal(d.Labels, Labels{{"team", "data"}}) {
		t.Error("Clone shares its labels with the original")
	}
}
