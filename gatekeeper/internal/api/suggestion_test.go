package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// If an operator call matches no definition, the error suggests the most similar name in its message and metadata.
func TestOperatorCalls_MisspelledName_SuggestsNearest(t *testing.T) {
	g, op := openOperator(t, "nightly-export", "report")
	typo, glob := []string{"nightly-exprot"}, []string{"nihgtly-*"}
	pause := func(s *gatekeeperv1.Selector) *gatekeeperv1.PauseRequest {
		return &gatekeeperv1.PauseRequest{Selector: s}
	}
	edit := &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{{
		Change: &gatekeeperv1.Edit_Delete{Delete: typo[0]}, ExpectedVersion: 1,
	}}}
	byName := map[string]func(context.Context) error{
		"GetDefinition": func(ctx context.Context) error {
			_, err := g.definitions.GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: typo[0]})
			return err
		},
		"DeleteDefinition": func(ctx context.Context) error {
			_, err := g.definitions.DeleteDefinition(ctx, &gatekeeperv1.DeleteDefinitionRequest{Name: typo[0], ExpectedVersion: 1})
			return err
		},
		"BatchEdit": func(ctx context.Context) error {
			_, err := g.definitions.BatchEdit(ctx, edit)
			return err
		},
		"Preview of edits": func(ctx context.Context) error {
			_, err := op.Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Edits{Edits: edit}})
			return err
		},
		"ListFirings": func(ctx context.Context) error {
			_, err := op.ListFirings(ctx, &gatekeeperv1.ListFiringsRequest{Semaphore: typo[0]})
			return err
		},
	}
	bySelector := map[string]func(context.Context, *gatekeeperv1.Selector) error{
		"Pause": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			_, err := op.Pause(ctx, pause(s))
			return err
		},
		"Resume": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			_, err := op.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: s})
			return err
		},
		"Preview of a pause": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			_, err := op.Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Pause{Pause: pause(s)}})
			return err
		},
		"Preview of a resume": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			resume := &gatekeeperv1.ResumeRequest{Selector: s}
			_, err := op.Preview(ctx, &gatekeeperv1.PreviewRequest{Change: &gatekeeperv1.PreviewRequest_Resume{Resume: resume}})
			return err
		},
		"Move": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			_, err := op.Move(ctx, &gatekeeperv1.MoveRequest{Selector: s, FromGroup: "prod", ToGroup: "dr", DryRun: true})
			return err
		},
		"ListDefinitions": func(ctx context.Context, s *gatekeeperv1.Selector) error {
			_, err := g.definitions.ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Names: s.GetNames(), MustMatch: true})
			return err
		},
	}
	wantSuggestion := func(what string, err error, reason, suggestion string) {
		t.Helper()
		if info := want(t, err, codes.NotFound, reason); info["suggestion"] != suggestion || !strings.HasSuffix(status.Convert(err).Message(), `; did you mean "`+suggestion+`"?`) {
			t.Errorf("%s: got %v with metadata %v, want suggestion %q", what, err, info, suggestion)
		}
	}
	for what, call := range byName {
		wantSuggestion(what, call(ctx(t)), "NO_SUCH_DEFINITION", "nightly-export")
	}
	for what, call := range bySelector {
		wantSuggestion(what, call(ctx(t), &gatekeeperv1.Selector{Names: typo}), "NO_SUCH_DEFINITION", "nightly-export")
		wantSuggestion(what, call(ctx(t), &gatekeeperv1.Selector{Names: glob}), "NO_MATCH", "nightly-*")
	}

	if r, err := g.definitions.ListDefinitions(ctx(t), &gatekeeperv1.ListDefinitionsRequest{Names: glob}); err != nil || len(r.GetRecords()) != 0 {
		t.Errorf("ListDefinitions() without must_match = %v, %v; want no records and no error", r, err)
	}
	g.keeper.explain = func(*semaphore.Request) ([]semaphore.Step, semaphore.Decision, string, uint64, error) {
		return nil, semaphore.Decision{Reason: semaphore.NoSuchSemaphore}, "There is none.", 1, nil
	}
	r, err := g.definitions.Explain(ctx(t), &gatekeeperv1.ExplainRequest{Semaphore: typo[0], Identity: testIdentity(), Weight: 1})
	if err != nil || r.GetSummary() != `There is none. Did you mean "nightly-export"?` {
		t.Errorf("Explain() = %v, %v; want the suggested name in the summary", r, err)
	}
}

// GetDefinition may be called as often as TryAcquire, so it does not search many definitions for a similar name.
// Operator calls do.
func TestGetDefinition_MisspelledNameAmongManyDefinitions_HasNoSuggestion(t *testing.T) {
	g, op := openOperator(t, "nightly-export")
	batch := fsm.EditBatch{At: time.Unix(1, 0).UTC(), Author: "test"}
	for i := range maxSuggestionSearch {
		name := fmt.Sprintf("job/%d", i)
		batch.Changes = append(batch.Changes, fsm.Change{Kind: fsm.Create, Name: name, Definition: definition(name)})
	}
	g.keeper.do(batch)
	_, err := g.definitions.GetDefinition(ctx(t), &gatekeeperv1.GetDefinitionRequest{Name: "nightly-exprot"})
	if info := want(t, err, codes.NotFound, "NO_SUCH_DEFINITION"); info["name"] != "nightly-exprot" || info["suggestion"] != "" {
		t.Errorf("GetDefinition() error metadata = %v, want no suggestion", info)
	}
	_, err = op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: named("nightly-exprot")})
	if info := want(t, err, codes.NotFound, "NO_SUCH_DEFINITION"); info["suggestion"] != "nightly-export" {
		t.Errorf("Pause() error metadata = %v, want suggestion nightly-export", info)
	}
}

// A script that ends by resuming everything must also work in a cluster without definitions.
func TestResume_AllWithoutDefinitions_Succeeds(t *testing.T) {
	_, op := openOperator(t)
	all := &gatekeeperv1.Selector{All: true}
	if r, err := op.Resume(ctx(t), &gatekeeperv1.ResumeRequest{Selector: all}); err != nil || len(r.GetNames()) != 0 {
		t.Errorf("Resume() = %v, %v; want no names and no error", r, err)
	}
	_, err := op.Pause(ctx(t), &gatekeeperv1.PauseRequest{Selector: all})
	want(t, err, codes.NotFound, "NO_MATCH")
}

func TestUncordon_MistypedID_SuggestsNearest(t *testing.T) {
	_, op := openOperator(t)
	if _, err := op.Cordon(ctx(t), &gatekeeperv1.CordonRequest{AcquirerPattern: "db-1.*"}); err != nil {
		t.Fatal(err)
	}
	for id, suggestion := range map[string]string{"db-1.*": "acquirer:db-1.*", "acquirer:db-2.*": "acquirer:db-1.*", "zzz": ""} {
		_, err := op.Uncordon(ctx(t), &gatekeeperv1.UncordonRequest{Id: id})
		if info := want(t, err, codes.NotFound, "NO_SUCH_CORDON"); info["id"] != id || info["suggestion"] != suggestion {
			t.Errorf("Uncordon(%q) error metadata = %v, want suggestion %q", id, info, suggestion)
		}
	}
}
