package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// word is an enumeration's value in small letters, without its type's name: STOP_CAUSE_HELD_TOO_LONG is "held too long".
func word(value fmt.Stringer, prefix string) string {
	w := strings.TrimPrefix(value.String(), prefix)
	if w == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(w, "_", " "))
}

// duration is empty when there is none.
func duration(d *durationpb.Duration) string {
	if d.AsDuration() == 0 {
		return ""
	}
	return deffile.FormatDuration(d.AsDuration())
}

// brief is a duration as people say it.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return deffile.FormatDuration(d.Round(100 * time.Millisecond))
	case d < time.Hour:
		return deffile.FormatDuration(d.Round(time.Second))
	case d < 48*time.Hour:
		return deffile.FormatDuration(d.Round(time.Minute))
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

// elapsed is how long something took that may have been quick.
func elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return deffile.FormatDuration(d.Round(time.Millisecond))
	}
	return brief(d)
}

// ago is how long ago something was, by the local clock: for people only.
func ago(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return brief(time.Since(t.AsTime()))
}

func when(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

func number[N uint32 | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

// pairs is a map as k=v,k=v.
func pairs(m map[string]string) string {
	keys := slices.Sorted(maps.Keys(m))
	return strings.Join(mapped(keys, func(k string) string { return k + "=" + m[k] }), ",")
}

// firing is a firing as it is written in flags.
func firing(f *gatekeeperv1.Firing) string {
	if f == nil {
		return ""
	}
	if f.GetDue() == nil {
		return f.GetName()
	}
	return f.GetName() + "@" + f.GetDue().AsTime().Format(time.RFC3339Nano)
}

// parseFiring reads NAME[@TIME].
func parseFiring(s string) (name string, due time.Time, err error) {
	name = s
	if i := strings.LastIndex(s, "@"); i >= 0 {
		name = s[:i]
		if due, err = time.Parse(time.RFC3339, s[i+1:]); err != nil {
			return "", due, usagef("firing %q: the time after @ must be as in 2026-01-31T02:00:00Z", s)
		}
	}
	if name == "" {
		return "", due, usagef("firing %q has no name", s)
	}
	return name, due.UTC(), nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
