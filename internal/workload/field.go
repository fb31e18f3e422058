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

// Group is the group of all callers.
const Group = "bench"

// Acquirer returns the acquirer for a connection. Callers on the same connection differ only in their holder ids,
// because servers remember acquirers, and each acquirer appears in listings.
func Acquirer(connection int) string { return "bench-" + strconv.Itoa(connection+1) }

// Settings are the options of a run.
type Settings struct {
	// Prefix and a slash precede the name of each of the run's semaphores.
	Prefix string
	// Callers is the largest number of callers.
	Callers int
	// Tokens is the number of permits refreshed by one frame of a stream. Edits is the number of definitions changed by
	// one batch.
	Tokens, Edits int
	// Duration is the duration of the permits. It must exceed the time between two refreshes by a caller.
	Duration time.Duration
	// Timeout bounds each call. 0 means that only the context bounds it. The kind watch requires a timeout.
	Timeout time.Duration
	// Author and Reason are recorded in the journal.
	Author, Reason string
	// Run is the unique id of this run. It labels the definitions.
	Run string
}

// label is the key of the label by which a run recognizes its definitions.
const label = "gkctl-bench"

// Fixture manages the semaphores of a run, and the connections that the run uses.
type Fixture struct {
	Settings
	definitions map[string]*gatekeeperv1.Definition
	control     *client.Client
	clients     []*client.Client
	conns       []grpc.ClientConnInterface
	// created reports whether this run's definitions have ever existed. If not, everything below the prefix belongs to
	// other users.
	created bool
}

// NewFixture returns a fixture for the given kinds without creating anything. control is the connection for all calls
// that are not measured. Without clients the fixture can only report its size.
func NewFixture(s Settings, kinds []*Kind, control *client.Client, clients []*client.Client) *Fixture {
	f := &Fixture{Settings: s, definitions: make(map[string]*gatekeeperv1.Definition), control: control, clients: clients}
	for _, k := range kinds {
		for _, d := range k.needs(s) {
			d.Name, d.Duration, d.Labels = s.Prefix+"/"+d.GetName(), durationpb.New(s.Duration), map[string]string{label: s.Run}
			f.definitions[d.GetName()] = d // kinds share some definitions
		}
	}
	return f
}

// UseConns makes measured calls use the generated stub on these connections instead of the clients. This measures the
// servers without the client library, which retries and batches calls. Only the kinds queue and watch, and the holder
// of the permit that the kind deny requests, still use the clients.
func (f *Fixture) UseConns(conns ...grpc.ClientConnInterface) { f.conns = conns }

// Size returns the number of semaphores.
func (f *Fixture) Size() int { return len(f.definitions) }

func (f *Fixture) name(parts ...any) string {
	return f.Prefix + "/" + strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintln(parts...), " ", "/"), "\n")
}

// client returns the connection of a caller.
func (f *Fixture) client(caller int) *client.Client { return f.clients[caller%len(f.clients)] }

// requestID returns a request id for a measured call. A call that is never retried needs none.
func (f *Fixture) requestID() string {
	if len(f.conns) > 0 {
		return ""
	}
	return client.NewRequestID()
}

// permits returns the service that a caller uses for measured calls.
func (f *Fixture) permits(caller int) gatekeeperv1.PermitServiceClient {
	if len(f.conns) > 0 {
		return gatekeeperv1.NewPermitServiceClient(f.conns[caller%len(f.conns)])
	}
	return f.client(caller).Permits()
}

func (f *Fixture) identity(caller int, holder string) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: Group, Acquirer: Acquirer(caller % max(len(f.clients), len(f.conns))), HolderId: holder}
}

func (f *Fixture) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.Timeout)
}

// listPattern returns the listing pattern for everything below the prefix, including other users' objects.
func (f *Fixture) listPattern() []string { return []string{f.Prefix + "/*"} }

// TakenError means that a run's prefix is already in use.
type TakenError struct{ Prefix, Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s/ is already in use: %s", e.Prefix, e.Name)
}

// CheckUnused returns a *TakenError if any definition or permit exists below the prefix.
func (f *Fixture) CheckUnused(ctx context.Context) error {
	ctx, cancel := f.withTimeout(ctx)
	defer cancel()
	existing, err := f.control.Definitions().ListDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Names: f.listPattern(), PageSize: 1})
	if err != nil {
		return err
	}
	for _, r := range existing.GetRecords() {
		return &TakenError{f.Prefix, "semaphore " + r.GetDefinition().GetName()}
	}
	held, err := f.control.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: f.listPattern(), PageSize: 1})
	if err != nil {
		return err
	}
	for _, p := range held.GetPermits() {
		return &TakenError{f.Prefix, fmt.Sprintf("permit %d of %s", p.GetToken(), p.GetSemaphore())}
	}
	return nil
}

// Create creates all semaphores in one change, or none. The caller must call Clear, even after an error.
func (f *Fixture) Create(ctx context.Context) error {
	var edits []*gatekeeperv1.Edit
	for _, name := range slices.Sorted(maps.Keys(f.definitions)) {
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: f.definitions[name]}})
	}
	err := f.edit(ctx, edits)
	f.created = err == nil
	return err
}

func (f *Fixture) edit(ctx context.Context, edits []*gatekeeperv1.Edit) error {
	ctx, cancel := f.withTimeout(ctx)
	defer cancel()
	_, err := f.control.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
		Edits: edits, Author: f.Author, Reason: f.Reason, RequestId: client.NewRequestID(),
	})
	return err
}

// Clear deletes the definitions and then releases the remaining permits, including those granted in a response that was
// lost. It returns the number of released permits, and an error if anything remains. ctx must not be cancelled by an
// interrupt.
func (f *Fixture) Clear(ctx context.Context) (freed int, err error) {
	for n := 0; ; n++ {
		deleted, err := f.deleteAll(ctx)
		if err == nil && deleted == 0 {
			break
		}
		// A concurrent edit by an interrupted caller may interfere.
		if err != nil && (!isConflict(err) || n >= 10) {
			return 0, err
		}
	}
	if !f.created {
		return 0, nil
	}
	return f.Release(ctx)
}

func isConflict(err error) bool {
	_, stale := errors.AsType[*client.StaleVersionError](err)
	_, gone := errors.AsType[*client.NoSuchDefinitionError](err)
	return stale || gone
}

// deleteAll deletes the run's remaining definitions in one change.
func (f *Fixture) deleteAll(ctx context.Context) (int, error) {
	listCtx, cancel := f.withTimeout(ctx)
	defer cancel()
	var edits []*gatekeeperv1.Edit
	for r, err := range f.control.AllDefinitions(listCtx, &gatekeeperv1.ListDefinitionsRequest{Names: f.listPattern(), Labels: label + "=" + f.Run}) {
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

// remaining returns the permits that the run still holds.
func (f *Fixture) remaining(ctx context.Context) ([]*gatekeeperv1.Permit, error) {
	ctx, cancel := f.withTimeout(ctx)
	defer cancel()
	var remaining []*gatekeeperv1.Permit
	for p, err := range f.control.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: f.listPattern()}) {
		if err != nil {
			return nil, err
		}
		if f.definitions[p.GetSemaphore()] != nil && p.GetIdentity().GetGroup() == Group {
			remaining = append(remaining, p)
		}
	}
	return remaining, nil
}

// Release releases the remaining permits and returns their number. After all sessions are closed, none remain unless a
// response was lost.
func (f *Fixture) Release(ctx context.Context) (freed int, err error) {
	remaining, err := f.remaining(ctx)
	if err != nil || len(remaining) == 0 {
		return 0, err
	}
	tokens := make([]uint64, len(remaining))
	for i, p := range remaining {
		tokens[i] = p.GetToken()
	}
	if err := f.release(ctx, tokens); err != nil {
		return 0, err
	}
	unreleased, err := f.remaining(ctx)
	if err == nil && len(unreleased) > 0 {
		err = fmt.Errorf("%d permits are still held; the first is permit %d of %s", len(unreleased), unreleased[0].GetToken(), unreleased[0].GetSemaphore())
	}
	return len(remaining) - len(unreleased), err
}

// concurrency is the number of concurrent calls used to prepare a kind and to clear the fixture.
const concurrency = 32

// release releases permits on the connection for calls that are not measured. It returns an error for a permit that has
// ended, unless the permit has already been released.
func (f *Fixture) release(ctx context.Context, tokens []uint64) error {
	return forEach(len(tokens), func(i int) error { return f.releaseOne(ctx, f.control.Permits(), tokens[i]) })
}

// releaseOne releases a permit.
func (f *Fixture) releaseOne(ctx context.Context, svc gatekeeperv1.PermitServiceClient, token uint64) error {
	ctx, cancel := f.withTimeout(ctx)
	defer cancel()
	r, err := svc.Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
	if err == nil && !r.GetReleased() {
		err = fmt.Errorf("permit %d was not released: %s", token, r.GetMessage())
	}
	return err
}

// acquire acquires a permit of a semaphore. One must be free.
func (f *Fixture) acquire(ctx context.Context, caller int, holder, semaphore string) (uint64, error) {
	ctx, cancel := f.withTimeout(ctx)
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

// forEach calls f with 0 to n-1, with limited concurrency, and returns the first error.
func forEach(n int, f func(i int) error) error {
	errs := make([]error, min(concurrency, n))
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
