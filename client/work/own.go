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

// SubmitterLease is how long the permit of a submitter lives without a refresh: how long after its death its job is
// cancelled, at the latest.
const SubmitterLease = 30 * time.Second

const (
	// ownLabel says for which job a semaphore was made. Servers read it. Its name is frozen.
	ownLabel = "gatekeeper/job"
	// ownPrefix begins the names of such semaphores.
	ownPrefix = "submitter/"
	// ownHolder is the holder id of the submitter. It is always the same, so a submitter that starts again gets its
	// permit back.
	ownHolder = "submitter"
)

// ownSemaphore is a semaphore that was made for one job, with the permit of its submitter.
type ownSemaphore struct {
	name    string
	token   uint64
	permit  *client.Permit // nil: the Client held it before
	version uint64         // of its definition; 0: it was there before
}

// makeOwn makes the semaphore of a job, which only this group and acquirer may hold, and acquires its permit.
func makeOwn(ctx context.Context, c *client.Client, job string) (*ownSemaphore, error) {
	own := &ownSemaphore{name: ownName(job)}
	sem := c.Semaphore(own.name, client.WithHolderID(ownHolder))
	group, acquirer, permits := regexp.QuoteMeta(sem.Group()), regexp.QuoteMeta(sem.Acquirer()), uint32(1)
	r, err := c.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
		Author: sem.Acquirer(), Reason: "the submitter of a job", RequestId: client.NewRequestID(),
		Edits: []*gatekeeperv1.Edit{{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{
			Name: own.name, Description: "Held by the submitter of a job. It is deleted when the job is over.",
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
		own.token = used.Token // this Client has submitted the job before
		return own, nil
	}
	own.remove(ctx, c)
	return nil, err
}

// releaseAtEnd releases the permit when it must not be counted on any more, because the job is over and its semaphore
// was deleted for example. Nobody else would, and it would take its slot until it expires.
func (o *ownSemaphore) releaseAtEnd() {
	if o.permit == nil {
		return
	}
	held := o.permit.Context()
	context.AfterFunc(held, func() {
		if errors.Is(context.Cause(held), client.ErrStopped) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(held), lastWord)
			defer cancel()
			_ = o.permit.Release(ctx) // else it expires
		}
	})
}

// ownName is the name of the semaphore of a job: its id, if a semaphore may be named so.
func ownName(job string) string {
	if len(job) > 200 || strings.ContainsAny(job, "*?[]") {
		sum := sha256.Sum256([]byte(job))
		job = hex.EncodeToString(sum[:16])
	}
	return ownPrefix + job
}

// remove gives the permit back, and removes the semaphore if it was made here. What does not get through is left to the
// servers: the permit expires.
func (o *ownSemaphore) remove(ctx context.Context, c *client.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
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
