package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Group is in which every caller of a run asks.
const Group = "bench"

// Acquirer is who asks on a connection. Callers of one connection are distinguished by holder ids: acquirers are
// remembered by the servers, and each is listed to people.
func Acquirer(connection int) string { return "bench-" + strconv.Itoa(connection+1) }

// Settings are the options of a run.
type Settings struct {
	// Prefix begins the names of all its semaphores, before a slash.
	Prefix string
	// Callers is the largest number that is asked for.
	Callers int
	// Tokens is how many permits one frame of a stream refreshes, Edits how many definitions one batch changes.
	Tokens, Edits int
	// Duration is that of the permits: longer than a caller ever takes to come to refresh its own.
	Duration time.Duration
	// Timeout bounds each call; 0 means that only the context does. watch needs it.
	Timeout time.Duration
	// Author and Reason are for the journal.
	Author, Reason string
	// Run distinguishes this run from every other: it labels the definitions.
	Run string
}

// label is the key of the label by which a run knows its own definitions.
const label = "gkctl-bench"

// Field is the semaphores of a run, and the connections on which it works.
type Field struct {
	Settings
	definitions map[string]*gatekeeperv1.Definition
	control     *client.Client
	clients     []*client.Client
	over        []grpc.ClientConnInterface
	// created: definitions of this run were there. Otherwise what there is below the prefix is somebody else's.
	created bool
}

// NewField returns the field for these kinds, of which nothing is created yet. control is the connection for everything
// that is not measured. Without clients it only reports its size.
func NewField(s Settings, kinds []*Kind, control *client.Client, clients []*client.Client) *Field {
	f := &Field{Settings: s, definitions: make(map[string]*gatekeeperv1.Definition), control: control, clients: clients}
	for _, k := range kinds {
		for _, d := range k.needs(s) {
			d.Name, d.Duration, d.Labels = s.Prefix+"/"+d.GetName(), durationpb.New(s.Duration), map[string]string{label: s.Run}
			f.definitions[d.GetName()] = d // kinds share some
		}
	}
	return f
}

// Over makes the calls that are measured go over these connections by the generated stub, and not by the clients. That
// measures the servers without the client library, which repeats calls and asks in batches. Only queue, watch and the
// permit that deny is about stay with the clients.
func (f *Field) Over(conns ...grpc.ClientConnInterface) { f.over = conns }

// Size is how many semaphores it has.
func (f *Field) Size() int { return len(f.definitions) }

func (f *Field) name(parts ...any) string {
	return f.Prefix + "/" + strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintln(parts...), " ", "/"), "\n")
}

// client is the connection of a caller.
func (f *Field) client(caller int) *client.Client { return f.clients[caller%len(f.clients)] }

// requestID is that of a measured call. A call that is not repeated needs none.
func (f *Field) requestID() string {
	if len(f.over) > 0 {
		return ""
	}
	return client.NewRequestID()
}

// permits is the service by which a caller makes calls that are measured.
func (f *Field) permits(caller int) gatekeeperv1.PermitServiceClient {
	if len(f.over) > 0 {
		return gatekeeperv1.NewPermitServiceClient(f.over[caller%len(f.over)])
	}
	return f.client(caller).Permits()
}

func (f *Field) identity(caller int, holder string) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: Group, Acquirer: Acquirer(caller % max(len(f.clients), len(f.over))), HolderId: holder}
}

func (f *Field) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.Timeout)
}

// below is what a listing is asked for: everything below the prefix, whosever it is.
func (f *Field) below() []string { return []string{f.Prefix + "/*"} }

// TakenError says that there is something already where a run was to have its own.
type TakenError struct{ Prefix, Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("there is something below %s/ already: %s", e.Prefix, e.Name)
}

// CheckUnused returns a *TakenError when there is any definition or permit below the prefix.
func (f *Field) CheckUnused(ctx context.Context) error {
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	there, err := f.control.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Names: f.below(), PageSize: 1})
	if err != nil {
		return err
	}
	for _, r := range there.GetRecords() {
		return &TakenError{f.Prefix, "semaphore " + r.GetDefinition().GetName()}
	}
	held, err := f.control.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: f.below(), PageSize: 1})
	if err != nil {
		return err
	}
	for _, p := range held.GetPermits() {
		return &TakenError{f.Prefix, fmt.Sprintf("permit %d of %s", p.GetToken(), p.GetSemaphore())}
	}
	return nil
}

// Create creates all semaphores in one change, or none. Clear must follow, also after an error.
func (f *Field) Create(ctx context.Context) error {
	var edits []*gatekeeperv1.Edit
	for _, name := range slices.Sorted(maps.Keys(f.definitions)) {
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: f.definitions[name]}})
	}
	err := f.edit(ctx, edits)
	f.created = err == nil
	return err
}

func (f *Field) edit(ctx context.Context, edits []*gatekeeperv1.Edit) error {
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	_, err := f.control.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
		Edits: edits, Author: f.Author, Reason: f.Reason, RequestId: client.NewRequestID(),
	})
	return err
}

// Clear deletes the definitions and then gives back what permits there still are, also those whose grant nobody has
// heard of. It returns how many permits that were, and an error when anything is left. ctx must not be one that an
// interrupt ends.
func (f *Field) Clear(ctx context.Context) (freed int, err error) {
	for n := 0; ; n++ {
		deleted, err := f.deleteAll(ctx)
		if err == nil && deleted == 0 {
			break
		}
		// An edit whose caller was interrupted may come in between.
		if err != nil && (!changedMeanwhile(err) || n >= 10) {
			return 0, err
		}
	}
	if !f.created {
		return 0, nil
	}
	return f.Release(ctx)
}

func changedMeanwhile(err error) bool {
	_, stale := errors.AsType[*client.StaleVersionError](err)
	_, gone := errors.AsType[*client.NoSuchDefinitionError](err)
	return stale || gone
}

// deleteAll deletes in one change those definitions of the field that are there.
func (f *Field) deleteAll(ctx context.Context) (int, error) {
	reading, cancel := f.bounded(ctx)
	defer cancel()
	var edits []*gatekeeperv1.Edit
	for r, err := range f.control.AllDefinitions(reading, &gatekeeperv1.ListDefinitionsRequest{Names: f.below(), Labels: label + "=" + f.Run}) {
		if err != nil {
			return 0, err
		}
		edits = append(edits, &gatekeeperv1.Edit{
			Change: &gatekeeperv1.Edit_Delete{Delete: r.GetDefinition().GetName()}, ExpectedVersion: r.GetVersion(),
		})
	}
	if len(edits) == 0 {
		return 0, nil
	}
	f.created = true
	return len(edits), f.edit(ctx, edits)
}

// left lists the permits that are held in the field.
func (f *Field) left(ctx context.Context) ([]*gatekeeperv1.Permit, error) {
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	var left []*gatekeeperv1.Permit
	for p, err := range f.control.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: f.below()}) {
		if err != nil {
			return nil, err
		}
		if f.definitions[p.GetSemaphore()] != nil && p.GetIdentity().GetGroup() == Group {
			left = append(left, p)
		}
	}
	return left, nil
}

// Release gives back what permits there still are, and returns how many. After every session was closed there are none,
// unless an answer was lost.
func (f *Field) Release(ctx context.Context) (freed int, err error) {
	left, err := f.left(ctx)
	if err != nil || len(left) == 0 {
		return 0, err
	}
	tokens := make([]uint64, len(left))
	for i, p := range left {
		tokens[i] = p.GetToken()
	}
	if err := f.release(ctx, tokens); err != nil {
		return 0, err
	}
	still, err := f.left(ctx)
	if err == nil && len(still) > 0 {
		err = fmt.Errorf("%d permits are still held, the first is %d of %s", len(still), still[0].GetToken(), still[0].GetSemaphore())
	}
	return len(left) - len(still), err
}

// together is how many calls prepare and clear at once.
const together = 32

// release gives permits back, each on the connection for everything that is not measured. One that has ended is an
// error unless it was released before.
func (f *Field) release(ctx context.Context, tokens []uint64) error {
	return each(len(tokens), func(i int) error { return f.releaseOne(ctx, f.control.Permits(), tokens[i]) })
}

// releaseOne gives a permit back.
func (f *Field) releaseOne(ctx context.Context, by gatekeeperv1.PermitServiceClient, token uint64) error {
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	r, err := by.Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
	if err == nil && !r.GetReleased() {
		err = fmt.Errorf("permit %d was not released: %s", token, r.GetMessage())
	}
	return err
}

// acquire takes a permit of a semaphore that is free.
func (f *Field) acquire(ctx context.Context, caller int, holder, semaphore string) (uint64, error) {
	ctx, cancel := f.bounded(ctx)
	defer cancel()
	r, err := f.permits(caller).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: semaphore, Identity: f.identity(caller, holder), RequestId: f.requestID(),
	})
	switch {
	case err != nil:
		return 0, err
	case r.GetGrant() == nil:
		return 0, fmt.Errorf("denied: %s", r.GetDenial().GetMessage())
	}
	return r.GetGrant().GetPermit().GetToken(), nil
}

// each calls f for 0 to n-1, some at once, and returns the first error.
func each(n int, f func(i int) error) error {
	errs := make([]error, min(together, n))
	var wg sync.WaitGroup
	for worker := range errs {
		wg.Go(func() {
			for i := worker; i < n && errs[worker] == nil; i += len(errs) {
				errs[worker] = f(i)
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
