package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The journal shows the requests as the server received them, with defaults for empty fields.
func TestOperate_Requests_ContainAllFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv := gktest.Start(t, "a", "b")
		srv.Define(t, &gatekeeperv1.Definition{Name: "c", GroupPattern: new("east"), Labels: map[string]string{"team": "data"}})
		c := srv.Dial(t, "ops")
		until := time.Now().Add(time.Hour)

		moved, err := c.Move(ctx, client.MoveRequest{
			Selector: client.Selector{Labels: "team=data"}, FromGroup: "east", ToGroup: "west", Drain: time.Minute, Author: "ann", Reason: "why",
		})
		if err != nil {
			t.Fatal(err)
		}
		paused, err := c.Pause(ctx, client.PauseRequest{
			Selector: client.Selector{All: true}, End: client.End{At: until}, Stop: true, Drain: time.Minute, Reason: "why",
		})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := c.Pause(ctx, client.PauseRequest{Selector: client.Selector{All: true}, End: client.End{After: time.Minute}, KeepPaused: true})
		if err != nil || len(kept.GetNames()) != 0 {
			t.Fatalf("second Pause() paused %v, error = %v; want none", kept.GetNames(), err)
		}
		cordoned, err := c.Cordon(ctx, client.CordonRequest{GroupPattern: "north", End: client.End{At: until}, Drain: time.Minute, Reason: "why"})
		if err != nil {
			t.Fatal(err)
		}
		if got := cordoned.GetCordon(); got.GetId() == "" || !got.GetUntil().AsTime().Equal(until) || got.GetDrain().AsDuration() != time.Minute {
			t.Errorf("got cordon %v", got)
		}

		entries := func(change uint64) []*gatekeeperv1.HistoryEntry {
			r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Change: change})
			if err != nil {
				t.Fatal(err)
			}
			return r.GetEntries()
		}
		if got := entries(moved.GetChange()); len(got) != 1 || got[0].GetAuthor() != "ann" || got[0].GetReason() != "why" ||
			got[0].GetAfter().GetGroupPattern() != "west" || got[0].GetDrain().AsDuration() != time.Minute {
			t.Errorf("journal contains %v for the move, want one entry with all fields", got)
		}
		if got := entries(paused.GetRevision()); len(got) != 3 || got[0].GetAuthor() != "ops" || !got[0].GetPause().GetStop() ||
			!got[0].GetPause().GetUntil().AsTime().Equal(until) {
			t.Errorf("journal contains %v for the pause, want three entries with all fields", got)
		}
	})
}

// A retry with the same request id must not make the change again.
func TestOperate_SameRequestID_IsAppliedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv := gktest.Start(t, "a")
		c := srv.Dial(t, "ops")
		all := client.Selector{All: true}
		pause := client.PauseRequest{Selector: all, RequestID: client.NewRequestID()}
		cordon := client.CordonRequest{ID: "x", GroupPattern: "north", RequestID: client.NewRequestID()}
		for name, call := range map[string]func() (uint64, error){
			"pause": func() (uint64, error) { r, err := c.Pause(ctx, pause); return r.GetRevision(), err },
			"cordon": func() (uint64, error) {
				r, err := c.Cordon(ctx, cordon)
				return r.GetCordon().GetRevision(), err
			},
		} {
			first, err := call()
			if err != nil {
				t.Fatal(name, err)
			}
			if again, err := call(); err != nil || again != first || first == 0 {
				t.Errorf("%s: first call made change %d, second call %d (error = %v), want the same change", name, first, again, err)
			}
		}
	})
}

func TestOperate_ImpossibleRequest_ReturnsTypedError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		srv := gktest.Start(t, "a")
		c := srv.Dial(t, "ops")
		both := client.End{At: time.Now().Add(time.Hour), After: time.Hour}
		one := client.Selector{Names: []string{"a"}}

		plan, err := c.Preview(ctx, client.PauseRequest{Selector: one})
		if err != nil {
			t.Fatal(err)
		}
		srv.Pause(t, "a", "someone else got there first")
		for name, c := range map[string]struct {
			call func(context.Context) error
			as   func(error) bool
		}{
			"pause with two ends": {func(ctx context.Context) error {
				_, err := c.Pause(ctx, client.PauseRequest{Selector: one, End: both})
				return err
			}, as[*client.InvalidFieldError]},
			"cordon with two ends": {func(ctx context.Context) error {
				_, err := c.Cordon(ctx, client.CordonRequest{GroupPattern: "x", End: both})
				return err
			}, as[*client.InvalidFieldError]},
			"preview with two ends": {func(ctx context.Context) error {
				_, err := c.Preview(ctx, client.PauseRequest{Selector: one, End: both})
				return err
			}, as[*client.InvalidFieldError]},
			"move without groups": {func(ctx context.Context) error {
				_, err := c.Move(ctx, client.MoveRequest{Selector: one})
				return err
			}, as[*client.InvalidFieldError]},
			"move without a matching definition": {func(ctx context.Context) error {
				_, err := c.Move(ctx, client.MoveRequest{Selector: client.Selector{Names: []string{"b"}}, FromGroup: "x", ToGroup: "y"})
				return err
			}, as[*client.NoSuchDefinitionError]},
			"pause that differs from its preview": {func(ctx context.Context) error {
				_, err := c.Pause(ctx, client.PauseRequest{Selector: one, Expected: plan.GetDigest()})
				return err
			}, as[*client.ChangedSinceError]},
			"uncordon without a cordon": {func(ctx context.Context) error {
				_, err := c.Uncordon(ctx, client.UncordonRequest{ID: "none"})
				return err
			}, as[*client.NoSuchCordonError]},
		} {
			if err := c.call(ctx); !c.as(err) || !errors.As(err, new(*client.StatusError)) {
				t.Errorf("%s: error = %v (%T), want a more specific type", name, err, err)
			}
		}
	})
}

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
