package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Overload is the kind that floods the servers with calls. In its runs and in mixed runs, each server executes at most
// MaxCalls calls concurrently, so that even a laptop can make ten times as many.
const (
	Overload = "overload"
	MaxCalls = 64
)

// overload adds ten times as many callers as one server can serve concurrently. They retry their calls immediately,
// regardless of the response. In the meantime, other clients' calls may be refused. The history check verifies that
// refused calls were not executed.
func overload(ctx context.Context, a *Arena, random *rand.Rand) error {
	overloadCtx, cancel := context.WithTimeout(ctx, between(random, time.Second, 4*time.Second))
	defer cancel()
	var permits []gatekeeperv1.PermitServiceClient
	a.mu.Lock()
	all := a.Members()
	a.mu.Unlock()
	for _, s := range all {
		for range 4 {
			conn, err := grpc.NewClient("passthrough:///"+s.API, grpc.WithTransportCredentials(a.Credentials), grpc.WithDisableRetry())
			if err != nil {
				return err
			}
			defer conn.Close()
			permits = append(permits, gatekeeperv1.NewPermitServiceClient(conn))
		}
	}
	a.Note(Overload, "")
	var mu sync.Mutex // guards refused
	var refused int
	var callers sync.WaitGroup
	for i := range 10 * MaxCalls {
		callers.Go(func() {
			local := 0
			for overloadCtx.Err() == nil {
				_, err := permits[i%len(permits)].TryAcquire(overloadCtx, &gatekeeperv1.TryAcquireRequest{
					Semaphore: "undefined", Identity: &gatekeeperv1.Identity{Group: Overload, Acquirer: fmt.Sprint("flood-", i)},
				})
				switch status.Code(err) {
				case codes.ResourceExhausted:
					local++
				case codes.Unavailable: // another fault has stopped the server
					sleep(overloadCtx, 10*time.Millisecond)
				}
			}
			mu.Lock()
			refused += local
			mu.Unlock()
		})
	}
	callers.Wait()
	a.Note(fmt.Sprintf("%d calls were refused", refused), "")
	return nil
}
