package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	past "github.com/gatekeeperd/gatekeeper/gatekeeper/internal/denials"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func deniedCaller(name, acquirer string, resolved bool) keeper.DeniedCaller {
	return keeper.DeniedCaller{
		Denial: past.Denial{
			Request: semaphore.Request{Semaphore: name, Identity: semaphore.Identity{Group: "dr", Acquirer: acquirer}, Weight: 2},
			Reason:  semaphore.GroupMismatch, Message: "m", Count: 3, First: time.Unix(1, 0), Last: time.Unix(2, 0),
		},
		Resolved: resolved, OtherHolder: &semaphore.Identity{Group: "prod", Acquirer: "app9"}, Text: acquirer + " asks",
	}
}

func texts(callers []*gatekeeperv1.DeniedCaller) string {
	var all []string
	for _, c := range callers {
		all = append(all, c.GetSemaphore()+": "+c.GetText())
	}
	return strings.Join(all, ", ")
}

func TestListDenied_FiltersByNameLabelAndResolution(t *testing.T) {
	g, op := openOperator(t, "a", "b")
	g.keeper.denialsSince = time.Unix(7, 0)
	g.keeper.denied = []keeper.DeniedCaller{deniedCaller("b", "app3", false), deniedCaller("a", "app2", false), deniedCaller("b", "app1", true), deniedCaller("none", "app4", false)}
	g.keeper.misspelled = []keeper.DeniedCaller{deniedCaller("aa", "app5", false), deniedCaller("ab", "app5", false), deniedCaller("ac", "app5", false), deniedCaller("ad", "app5", false)}
	for _, c := range []struct {
		req        *gatekeeperv1.ListDeniedRequest
		want, near string
	}{
		{&gatekeeperv1.ListDeniedRequest{}, "a: app2 asks, b: app3 asks, none: app4 asks", ""},
		{&gatekeeperv1.ListDeniedRequest{Resolved: true}, "a: app2 asks, b: app3 asks, b: app1 asks, none: app4 asks", ""},
		{&gatekeeperv1.ListDeniedRequest{Names: []string{"n*"}}, "none: app4 asks", ""},
		{&gatekeeperv1.ListDeniedRequest{Names: []string{"a"}}, "a: app2 asks", "aa: app5 asks, ab: app5 asks, ac: app5 asks"},
		{&gatekeeperv1.ListDeniedRequest{Names: []string{"none"}}, "none: app4 asks", ""},
		{&gatekeeperv1.ListDeniedRequest{Labels: "team=data"}, "", ""},
	} {
		r, err := op.ListDenied(ctx(t), c.req)
		if err != nil || texts(r.GetCallers()) != c.want || texts(r.GetMisspelled()) != c.near || !r.GetSince().AsTime().Equal(g.keeper.denialsSince) {
			t.Errorf("ListDenied(%v) = %v, %v", c.req, r, err)
		}
	}
	if _, err := op.ListDenied(ctx(t), &gatekeeperv1.ListDeniedRequest{Names: []string{"["}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("ListDenied() with an invalid glob: %v", err)
	}
	r := must(op.ListDenied(ctx(t), &gatekeeperv1.ListDeniedRequest{Names: []string{"a"}}))(t)
	if d := r.GetCallers()[0]; d.GetIdentity().GetGroup() != "dr" || d.GetWeight() != 2 || d.GetReason() != gatekeeperv1.Reason_REASON_GROUP_MISMATCH ||
		d.GetMessage() != "m" || d.GetCount() != 3 || d.GetFirst().AsTime().Unix() != 1 || d.GetLast().AsTime().Unix() != 2 ||
		d.GetOtherHolder().GetAcquirer() != "app9" || d.GetFiring() != nil {
		t.Errorf("toDenied() = %v", d)
	}
}

// A page never splits the callers of a semaphore, so a caller that is denied again between pages is not skipped.
func TestListDenied_Paged_ListsEachCallerOnce(t *testing.T) {
	g, op := openOperator(t, "a")
	g.keeper.misspelled = []keeper.DeniedCaller{deniedCaller("aa", "app5", false)}
	for _, x := range []string{"a 1", "b 1", "b 2", "b 3", "c 1", "d 1"} {
		name, acquirer, _ := strings.Cut(x, " ")
		g.keeper.denied = append(g.keeper.denied, deniedCaller(name, acquirer, name == "c"))
	}
	var pages []string
	req := &gatekeeperv1.ListDeniedRequest{PageSize: 2}
	for {
		r := must(op.ListDenied(ctx(t), req))(t)
		pages = append(pages, texts(r.GetCallers()))
		if req.PageToken = r.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
		// Drop the first caller and move the last one to the front, so that the order changes between pages.
		g.keeper.denied = slices.Concat(g.keeper.denied[len(g.keeper.denied)-1:], g.keeper.denied[1:len(g.keeper.denied)-1])
	}
	if got, want := strings.Join(pages, " | "), "a: 1 asks, b: 1 asks, b: 2 asks, b: 3 asks | d: 1 asks"; got != want {
		t.Errorf("ListDenied() returned pages %s, want %s", got, want)
	}
	g.keeper.denied = []keeper.DeniedCaller{deniedCaller("a", "1", false)}
	one := &gatekeeperv1.ListDeniedRequest{Names: []string{"a"}, PageToken: pageKey{name: "Z"}.String()}
	if r, err := op.ListDenied(ctx(t), one); err != nil || len(r.GetCallers()) != 1 || len(r.GetMisspelled()) != 0 {
		t.Errorf("ListDenied() with a page token = %v, %v", r, err)
	}
	for _, bad := range []*gatekeeperv1.ListDeniedRequest{{PageSize: maxPage + 1}, {PageToken: "?"}} {
		if _, err := op.ListDenied(ctx(t), bad); status.Code(err) != codes.InvalidArgument {
			t.Errorf("ListDenied(%v): got %v, want InvalidArgument", bad, err)
		}
	}
}

func TestGetDefinition_DeniedCaller_IsShownUntilResolved(t *testing.T) {
	g, _ := openOperator(t, "a", "b")
	g.keeper.denied = []keeper.DeniedCaller{deniedCaller("a", "app2", false), deniedCaller("a", "app1", true), deniedCaller("b", "app3", false)}
	r, err := gatekeeperv1.NewDefinitionServiceClient(g.conn).GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "a"})
	if err != nil || texts(r.GetRecord().GetDenied()) != "a: app2 asks" {
		t.Errorf("GetDefinition() = %v, %v; want only app2 as denied", r, err)
	}
}

func TestGetStatus_SemaphoresDenyingAll_ListsFirstAndCountsAll(t *testing.T) {
	g, _ := openOperator(t)
	for i := range maxDenyAll + 2 {
		g.keeper.deniesAll = append(g.keeper.deniesAll, deniedCaller(fmt.Sprint("job-", i), "app1", false))
	}
	r, err := gatekeeperv1.NewClusterServiceClient(g.conn).GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{})
	if err != nil || r.GetDeniedSemaphores() != maxDenyAll+2 || len(r.GetDenied()) != maxDenyAll || r.GetDenied()[0].GetSemaphore() != "job-0" {
		t.Errorf("GetStatus() = %v, %v; want all semaphores that deny every caller counted and the first ones listed", r, err)
	}
}
