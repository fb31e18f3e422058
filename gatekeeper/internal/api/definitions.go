package api

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// definitionService serves gatekeeper.v1.DefinitionService. Its reads are in reads.go and its stream is in watch.go.
type definitionService struct {
	gatekeeperv1.UnimplementedDefinitionServiceServer
	*API
	keeper definitionKeeper
	room   *work.Room
}

// maxEdits is the maximum number of edits in a batch.
const maxEdits = 10_000

// edit is an edit with its position in the request.
type edit struct {
	fsm.Change
	// field is the path of the definition or the name in the request.
	field string
}

// changeRequest is a request with an author, a reason and a request id.
type changeRequest interface {
	GetAuthor() string
	GetReason() string
	GetRequestId() string
	GetRequestRevision() uint64
}

func (s *definitionService) CreateDefinition(ctx context.Context, m *gatekeeperv1.CreateDefinitionRequest) (*gatekeeperv1.CreateDefinitionResponse, error) {
	e, err := definitionEdit(fsm.Create, "definition", m.GetDefinition(), 0)
	if err != nil {
		return nil, err
	}
	record, err := s.editOne(ctx, m, e)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.CreateDefinitionResponse{Record: record}, nil
}

func (s *definitionService) ReplaceDefinition(ctx context.Context, m *gatekeeperv1.ReplaceDefinitionRequest) (*gatekeeperv1.ReplaceDefinitionResponse, error) {
	if err := requireVersion("expected_version", m.GetExpectedVersion()); err != nil {
		return nil, err
	}
	e, err := definitionEdit(fsm.Replace, "definition", m.GetDefinition(), m.GetExpectedVersion())
	if err != nil {
		return nil, err
	}
	record, err := s.editOne(ctx, m, e)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.ReplaceDefinitionResponse{Record: record}, nil
}

func (s *definitionService) DeleteDefinition(ctx context.Context, m *gatekeeperv1.DeleteDefinitionRequest) (*gatekeeperv1.DeleteDefinitionResponse, error) {
	if err := requireVersion("expected_version", m.GetExpectedVersion()); err != nil {
		return nil, err
	}
	e, err := deletion("name", m.GetName(), m.GetExpectedVersion())
	if err != nil {
		return nil, err
	}
	result, err := s.edit(ctx, m, 0, keeper.Ending{}, e)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.DeleteDefinitionResponse{Revision: result.Revision, LivePermits: result.Permits}, nil
}

// BatchEdit applies all edits or none.
func (s *definitionService) BatchEdit(ctx context.Context, m *gatekeeperv1.BatchEditRequest) (*gatekeeperv1.BatchEditResponse, error) {
	edits, err := batchFrom(m)
	if err != nil {
		return nil, err
	}
	drain, err := durationFrom("drain", m.GetDrain(), 0)
	if err != nil {
		return nil, err
	}
	end, err := endingFrom(m)
	if err != nil {
		return nil, err
	}
	result, err := s.edit(ctx, m, drain, end, edits...)
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.BatchEditResponse{
		Revision: result.Revision, Skipped: result.Skipped, Warnings: s.warningsOf(edits, result.Skipped),
	}, nil
}

// batchFrom reads the edits in a batch.
func batchFrom(m *gatekeeperv1.BatchEditRequest) ([]edit, error) {
	if n := len(m.GetEdits()); n == 0 || n > maxEdits {
		return nil, invalid("edits", strconv.Itoa(n)+" edits", "must be 1 to "+strconv.Itoa(maxEdits)+" edits")
	}
	edits := make([]edit, len(m.GetEdits()))
	first := make(map[string]int, len(edits)) // maps each semaphore to its first edit
	for i, e := range m.GetEdits() {
		var err error
		if edits[i], err = editFrom(at("edits", i), e); err != nil {
			return nil, err
		}
		if other, duplicate := first[edits[i].Name]; duplicate {
			return nil, invalid(edits[i].nameField(), edits[i].Name, "must differ from the name in "+at("edits", other)+": each edit in a batch must name a different semaphore")
		}
		first[edits[i].Name] = i
	}
	return edits, nil
}

// editOne applies a single edit. It returns the record as of this edit, even if the definition has since been edited
// again.
func (s *definitionService) editOne(ctx context.Context, m changeRequest, e edit) (*gatekeeperv1.DefinitionRecord, error) {
	result, err := s.edit(ctx, m, 0, keeper.Ending{}, e)
	if err != nil {
		return nil, err
	}
	stored := result.Definition
	if stored == nil { // this retries an edit made before feature level 3, which did not store the definition
		stored = &fsm.StoredDefinition{Definition: e.Definition, Version: result.Revision}
	}
	return s.record(s.cfg.Machine.State(), stored), nil
}

// edit applies edits atomically.
func (s *definitionService) edit(ctx context.Context, m changeRequest, drain time.Duration, end keeper.Ending, edits ...edit) (fsm.EditResult, error) {
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return fsm.EditResult{}, err
	}
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return fsm.EditResult{}, err
	}
	batch := fsm.EditBatch{
		Changes: make([]fsm.Change, len(edits)), Author: author, Reason: reason, Drain: drain,
		RequestID: m.GetRequestId(), RequestRevision: m.GetRequestRevision(),
	}
	for i := range edits {
		batch.Changes[i] = edits[i].Change
	}
	if batch.RequestID != "" {
		if batch.RequestHash, err = editsHash(&batch, end); err != nil {
			return fsm.EditResult{}, err
		}
	}
	result, err := s.keeper.Edit(ctx, batch, end)
	if bad, ok := errors.AsType[*keeper.EditFieldError](err); ok {
		return fsm.EditResult{}, within(edits[bad.Index].field, bad.Err)
	}
	if conflict, ok := errors.AsType[*keeper.ConflictError](err); ok {
		return fsm.EditResult{}, conflictWith(s.cfg.Machine.State(), s.viewFilter(ctx), conflict, edits[conflict.Index].ExpectedVersion)
	}
	return result, err
}

// editFrom reads the edit at a path in a batch.
func editFrom(path string, m *gatekeeperv1.Edit) (edit, error) {
	version := func() error { return requireVersion(path+".expected_version", m.GetExpectedVersion()) }
	switch c := m.GetChange().(type) {
	case *gatekeeperv1.Edit_Create:
		return definitionEdit(fsm.Create, path+".create", c.Create, 0)
	case *gatekeeperv1.Edit_Declare:
		return definitionEdit(fsm.Declare, path+".declare", c.Declare, 0)
	case *gatekeeperv1.Edit_Replace:
		if err := version(); err != nil {
			return edit{}, err
		}
		return definitionEdit(fsm.Replace, path+".replace", c.Replace, m.GetExpectedVersion())
	case *gatekeeperv1.Edit_Delete:
		if err := version(); err != nil {
			return edit{}, err
		}
		return deletion(path+".delete", c.Delete, m.GetExpectedVersion())
	default:
		return edit{}, invalid(path, "", "must specify create, replace, delete or declare")
	}
}

func definitionEdit(kind fsm.ChangeKind, field string, m *gatekeeperv1.Definition, version uint64) (edit, error) {
	if m == nil {
		return edit{}, invalid(field, "", "must be set")
	}
	d, err := DefinitionFrom(m)
	if err != nil {
		return edit{}, within(field, err)
	}
	if err := semaphore.ValidSemaphoreName(d.Name); err != nil {
		return edit{}, withField(field+".name", err)
	}
	return edit{Change: fsm.Change{Kind: kind, Definition: d, Name: d.Name, ExpectedVersion: version}, field: field}, nil
}

func deletion(field, name string, version uint64) (edit, error) {
	if err := semaphore.ValidSemaphoreName(name); err != nil {
		return edit{}, withField(field, err)
	}
	return edit{Change: fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: version}, field: field}, nil
}

func (e *edit) nameField() string {
	if e.Definition == nil {
		return e.field
	}
	return e.field + ".name"
}

func requireVersion(field string, version uint64) error {
	if version == 0 {
		return invalid(field, "0", "must be the version on which the edit is based: read the definition first")
	}
	return nil
}
