package main

import (
	"context"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxDeniedLines is how many denied callers get and history name, and maxStrangersLines how many the error about a name that is
	// not defined names.
	maxDeniedLines, maxStrangersLines = 10, 3
	// maxRemark bounds how long the servers are asked for what is only a remark.
	maxRemark = 2 * time.Second
)

// sayDenied prints, below a listing, the callers that are denied until somebody acts.
func sayDenied(a *app, ctx context.Context, c *client.Client, names []string, labels string) {
	if len(names) == 0 && labels == "" || len(names) > maxNames {
		return // of everything there can be many: standbys are denied by design
	}
	r := remembered(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: names, Labels: labels})
	lines := deniedLines(r.GetCallers(), maxDeniedLines)
	for _, line := range append(lines, misspelledLines(r)...) {
		a.say("%s", line)
	}
	if len(lines) > 0 {
		a.say("%s", "`gkctl explain "+shellWord(r.GetCallers()[0].GetSemaphore())+"` shows how that is decided.")
	}
}

// remembered is what the leader remembers of denials. It is only a remark: a leader that does not answer, or whose version does
// not know the call, is not worth an error.
func remembered(ctx context.Context, c *client.Client, req *gatekeeperv1.ListDeniedRequest) *gatekeeperv1.ListDeniedResponse {
	ctx, cancel := context.WithTimeout(ctx, maxRemark)
	defer cancel()
	r, err := c.Operator().ListDenied(ctx, req)
	if err != nil {
		return new(gatekeeperv1.ListDeniedResponse)
	}
	return r
}

// deniedLines are what the servers say of callers: of the first most of them, and how many more there are.
func deniedLines(callers []*gatekeeperv1.DeniedCaller, most int) []string {
	lines := mapped(callers[:min(len(callers), most)], func(d *gatekeeperv1.DeniedCaller) string { return cell(d.GetText()) })
	if more := len(callers) - len(lines); more > 0 {
		lines = append(lines, "... and "+plural(more, "more caller is denied", "more callers are denied")+".")
	}
	return lines
}

// misspelledLines are of callers that likely mean the name that was asked about.
func misspelledLines(r *gatekeeperv1.ListDeniedResponse) []string {
	return mapped(r.GetMisspelled(), func(d *gatekeeperv1.DeniedCaller) string { return "A misspelled name? " + cell(d.GetText()) })
}

// strangers are the lines on callers that ask for a name without a definition, each after a line break. It is empty when there are
// none.
func strangers(ctx context.Context, c *client.Client, name string) string {
	r := remembered(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: []string{name}})
	if len(r.GetCallers()) == 0 {
		return ""
	}
	return "\n" + strings.Join(deniedLines(r.GetCallers(), maxStrangersLines), "\n")
}
