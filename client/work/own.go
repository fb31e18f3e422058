package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// SubmitterLease is the duration of a submitter's permit. It bounds the time between the submitter's death and the
// job's cancellation.
const SubmitterLease = 30 * time.Second

const (
	// ownLabel is the label that contains the ID of the job for which a semaphore was created. The servers read it, so
	// its name must not change.
	ownLabel = "gatekeeper/job"
	// ownPrefix is the name prefix of semaphores that were created for a job.
	ownPrefix = "submitter/"
	// ownHolder is the submitter's holder ID. It is constant, so that a restarted submitter recovers its permit.
	ownHolder = "submitter"
)

// ownSemaphore is a semaphore created for one job, with its submitter's permit.
type ownSemaphore struct {
	name    string
	token   uint64
	permit  *client.Permit // nil if the Client already held the permit
	version uint64         // the definition's version, or 0 if the semaphore already existed
}

// createOwnSemaphore creates a job's semaphore and acquires its permit, which only this group and acquirer can hold.
func createOwnSemaphore(ctx context.Context, c *client.Client, job string) (*ownSemaphore, error) {
	own := &ownSemaphore{name: ownSemaphoreName(job)}
	sem := c.Semaphore(own.name, client.WithHolderID(ownHolder))
	group, acquirer, permits := regexp.QuoteMeta(sem.Group()), regexp.QuoteMeta(sem.Acquirer()), uint32(1)
	r, err := c.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
		Author: sem.Acquirer(), Reason: "a job's submitter", RequestId: client.NewRequestID(),
		Edits: []*gatekeeperv1.Edit{{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{
			Name: own.name, Description: "This semaphore is held by a job's submitter and is deleted when the job ends.",
			Labels: map[string]string{ownLabel: job}, GroupPattern: &group, AcquirerPattern: &acquirer, Permits: &permits,
			Duration: durationpb.New(SubmitterLease),
		}}}},
	})
	if _, exists := errors.AsType[*client.AlreadyExistsError](err); err != nil && !exists {
		return nil, err
	}
	own.version = r.GetRevision()
	own.permit, err = sem.TryAcquire(ctx)
	if err == nil {
		own.token = own.permit.Token()
		return own, nil
	}
	if used, ok := errors.AsType[*client.InUseError](err); ok && used.Token != 0 {
		own.token = used.Token // this Client has already submitted the job
		return own, nil
	}
	own.remove(ctx, c)
	return nil, err
}

// releaseAtEnd releases the permit when it must no longer be used, for example because the job has ended and its
// semaphore was deleted. Otherwise the permit would occupy its slot until it expires.
func (o *ownSemaphore) releaseAtEnd() {
	if o.permit == nil {
		return
	}
	held := o.permit.Context()
	context.AfterFunc(held, func() {
		if errors.Is(context.Cause(held), client.ErrStopped) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(held), cleanupTimeout)
			defer cancel()
			_ = o.permit.Release(ctx) // if this fails, the permit expires
		}
	})
}

// ownSemaphoreName returns the name of a job's semaphore. It contains the job's ID, or a hash of the ID if the ID is
// not valid in a name.
func ownSemaphoreName(job string) string {
	if len(job) > 200 || strings.ContainsAny(job, "*?[]") {
		sum := sha256.Sum256([]byte(job))
		job = hex.EncodeToString(sum[:16])
	}
	return ownPrefix + job
}

// remove releases the permit, and removes the semaphore if it was created here. If a call fails, the permit expires and
// the servers clean up.
func (o *ownSemaphore) remove(ctx context.Context, c *client.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if o.permit != nil {
		_ = o.permit.Release(ctx)
	}
	if o.version != 0 {
		_, _ = c.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
			Reason: "the job was not submitted", RequestId: client.NewRequestID(),
			Edits: []*gatekeeperv1.Edit{{Change: &gatekeeperv1.Edit_Delete{Delete: o.name}, ExpectedVersion: o.version}},
		})
	}
}
