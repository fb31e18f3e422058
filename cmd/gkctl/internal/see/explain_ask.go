package see

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// question is a request to explain.
type question struct {
	req *gatekeeperv1.ExplainRequest
	// denied is what the servers remember of its caller. It is nil when they remember nothing, or when the command line names
	// the caller.
	denied *gatekeeperv1.DeniedCaller
	// before are the lines to print before the answer.
	before []string
}

// questions returns a request of every caller that was denied. For a semaphore without one it returns a request of the caller that
// is likely meant: the one that the command line names, the one that had a permit last, or this host.
func (o *explainOptions) questions(ctx context.Context, c *client.Client, names []string, req *gatekeeperv1.ExplainRequest) []question {
	var r *gatekeeperv1.ListDeniedResponse
	if !o.caller() {
		list := &gatekeeperv1.ListDeniedRequest{Labels: o.labels, Cured: true}
		if len(o.names) <= lookup.Max {
			list.Names = o.names
		}
		r = lookup.Remembered(ctx, c, list)
	}
	denied := make(map[string][]*gatekeeperv1.DeniedCaller)
	for _, d := range r.GetCallers() {
		denied[d.GetSemaphore()] = append(denied[d.GetSemaphore()], d)
	}
	var out []question
	for _, name := range names {
		for _, d := range denied[name] {
			out = append(out, o.ofDenied(d, req))
		}
		if len(denied[name]) == 0 {
			own := proto.CloneOf(req)
			own.Semaphore = name
			out = append(out, question{req: own})
		}
	}
	if !o.caller() && o.one() {
		first := &out[0]
		text, last := lastHolder(ctx, c, names[0])
		before := lookup.MisspelledLines(r)
		if text != "" {
			before = append([]string{text}, before...)
		}
		first.before = append(before, first.before...)
		if first.denied == nil {
			if r.GetSince() != nil {
				first.before = append(first.before, fmt.Sprintf("Nobody was denied for a reason that waiting does not cure since %s, when this leader began to remember.", words.When(r.GetSince())))
			}
			if last != nil {
				first.req.Identity = last
			}
		}
	}
	return out
}

// ofDenied repeats what a caller asked. A weight and a firing of the command line take precedence.
func (o *explainOptions) ofDenied(d *gatekeeperv1.DeniedCaller, given *gatekeeperv1.ExplainRequest) question {
	req := &gatekeeperv1.ExplainRequest{Semaphore: d.GetSemaphore(), Identity: d.GetIdentity(), Weight: d.GetWeight(), Firing: d.GetFiring()}
	if o.weighed {
		req.Weight = o.weight
	}
	if o.firing != "" {
		req.Firing = given.GetFiring()
	}
	return question{req: req, denied: d, before: []string{words.Cell(d.GetText())}}
}

// lastHolder says who has a permit, or had the last one that the journal remembers. caller is nil when that is not known. It is only
// a remark: text is empty when the servers cannot say.
func lastHolder(ctx context.Context, c *client.Client, name string) (text string, caller *gatekeeperv1.Identity) {
	of := func(p *gatekeeperv1.Permit) *gatekeeperv1.Identity {
		id := p.GetIdentity()
		return &gatekeeperv1.Identity{Group: id.GetGroup(), Acquirer: id.GetAcquirer()} // another acquisition
	}
	names := []string{name}
	held, err := c.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: names, PageSize: 1})
	if err != nil {
		return "", nil
	}
	if len(held.GetPermits()) > 0 {
		p := held.GetPermits()[0]
		return words.Cell(takenText(p)), of(p)
	}
	// One page has all that the journal keeps of a semaphore: its runs may come after as many edits.
	journal, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: names, Permits: true, PageSize: 1000})
	if err != nil {
		return "", nil
	}
	for _, e := range journal.GetEntries() {
		if e.GetPermit() != nil {
			text = fmt.Sprintf("Nobody holds it. The last permit was that of %s, %s at %s.", words.HolderText(e.GetPermit()), words.Word(e.GetKind(), "EVENT_KIND_"), words.When(e.GetAt()))
			return words.Cell(text), of(e.GetPermit())
		}
	}
	return "Nobody holds it, and the journal remembers no permit of it.", nil
}

// item is an answer among several.
func (q *question) item(r *gatekeeperv1.ExplainResponse) (json.RawMessage, error) {
	more := struct {
		Semaphore string     `json:"semaphore"`
		Group     string     `json:"group"`
		Acquirer  string     `json:"acquirer"`
		Denied    ui.Message `json:"denied,omitzero"`
	}{Semaphore: q.req.GetSemaphore(), Group: q.req.GetIdentity().GetGroup(), Acquirer: q.req.GetIdentity().GetAcquirer()}
	if q.denied != nil {
		more.Denied.Message = q.denied
	}
	return ui.Joined(r, more)
}
