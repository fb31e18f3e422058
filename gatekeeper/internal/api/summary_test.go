package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// summaryText formats a summary on one line.
func summaryText(r *gatekeeperv1.SummarizeDefinitionsResponse) string {
	b := new(strings.Builder)
	fmt.Fprint(b, r.GetTotal())
	for _, s := range r.GetStates() {
		fmt.Fprintf(b, " %s:%d", strings.TrimPrefix(s.GetState().String(), "DEFINITION_STATE_"), s.GetCount())
	}
	for _, l := range r.GetLabels() {
		fmt.Fprintf(b, " %s:%d", l.GetKey(), l.GetCount())
		for _, v := range l.GetValues() {
			fmt.Fprintf(b, " %s=%s:%d", l.GetKey(), v.GetValue(), v.GetCount())
		}
	}
	return b.String()
}

func TestSummarizeDefinitions_CountsListedDefinitions(t *testing.T) {
	t.Parallel()
	g := open(t)
	prod := "prod"
	for i := range 6 {
		d := &gatekeeperv1.Definition{Name: fmt.Sprintf("job-%d", i), Labels: map[string]string{"team": []string{"data", "web"}[i%2]}}
		if i == 5 {
			d.GroupPattern, d.Labels["zone"] = &prod, "a"
		}
		must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: d}))(t)
	}
	g.grant(t, "job-1", "host")
	g.keeper.waiters = []keeper.Waiter{{Semaphore: "job-1", Place: 1}}
	for _, c := range []struct {
		m    *gatekeeperv1.SummarizeDefinitionsRequest
		want string
	}{
		{&gatekeeperv1.SummarizeDefinitionsRequest{}, "6 RUNNING:1 IDLE:5 WAITING:1 team:6 team=data:3 team=web:3 zone:1 zone=a:1"},
		{&gatekeeperv1.SummarizeDefinitionsRequest{Labels: "team=web"}, "3 RUNNING:1 IDLE:2 WAITING:1 team:3 team=web:3 zone:1 zone=a:1"},
		{&gatekeeperv1.SummarizeDefinitionsRequest{Group: "drc"}, "5 RUNNING:1 IDLE:4 WAITING:1 team:5 team=data:3 team=web:2"},
		{&gatekeeperv1.SummarizeDefinitionsRequest{Names: []string{"job-[0-3]"}, Search: "WEB"}, "2 RUNNING:1 IDLE:1 WAITING:1 team:2 team=web:2"},
		{&gatekeeperv1.SummarizeDefinitionsRequest{Search: "none"}, "0"},
	} {
		r := must(g.definitions.SummarizeDefinitions(ctx(t), c.m))(t)
		if got := summaryText(r); got != c.want {
			t.Errorf("SummarizeDefinitions(%v) =\n%s, want\n%s", c.m, got, c.want)
		}
	}
}

func TestMostCounted_ManyElements_KeepsHighestSortedByName(t *testing.T) {
	t.Parallel()
	var all []*gatekeeperv1.LabelValueCount
	for i := range 2 * maxCounted {
		all = append(all, &gatekeeperv1.LabelValueCount{Value: fmt.Sprintf("v%03d", i), Count: uint32(i)})
	}
	kept := mostCounted(all, (*gatekeeperv1.LabelValueCount).GetValue)
	if len(kept) != maxCounted || kept[0].GetValue() != "v050" || kept[maxCounted-1].GetValue() != "v099" {
		t.Errorf("mostCounted() returned %d elements, from %v to %v", len(kept), kept[0], kept[len(kept)-1])
	}
}

func TestSummaries_RepeatedRequest_IsCachedForTwentyTimesItsCost(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	s := summaries{now: func() time.Time { return now }}
	counted := 0
	get := func(key summaryKey, cost time.Duration) uint32 {
		return s.get(key, func() *gatekeeperv1.SummarizeDefinitionsResponse {
			counted++
			now = now.Add(cost)
			return &gatekeeperv1.SummarizeDefinitionsResponse{Total: uint32(counted)}
		}).GetTotal()
	}
	all, scoped := summaryKey{request: "r"}, summaryKey{request: "r", principal: "ops", access: 7}
	for _, c := range []struct {
		key   summaryKey
		after time.Duration
		cost  time.Duration
		want  uint32
	}{
		{all, 0, time.Millisecond, 1},
		{all, summaryAge - time.Nanosecond, 0, 1},
		{scoped, 0, 0, 2}, // a caller with a restricted view
		{all, time.Nanosecond, time.Second, 3},
		{all, 20*time.Second - time.Nanosecond, 0, 3},
		{all, time.Nanosecond, 0, 4},
	} {
		now = now.Add(c.after)
		if got := get(c.key, c.cost); got != c.want {
			t.Errorf("at %v: got summary %d, want %d", now.Sub(time.Unix(0, 0)), got, c.want)
		}
	}
	for i := range 3 * maxSummaries {
		get(summaryKey{request: fmt.Sprint(i)}, 0)
	}
	if len(s.cached) > maxSummaries {
		t.Errorf("got %d cached summaries, want at most %d", len(s.cached), maxSummaries)
	}
}
