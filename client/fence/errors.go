package fence

import (
	"errors"
	"fmt"
)

// ErrNoToken means that the write carries no token, as in a job that runs without a permit.
var ErrNoToken = errors.New("the write carries no fencing token")

// StaleError reports that a write was rejected because the resource has seen a newer holder's token.
type StaleError struct {
	Resource string
	// Token is the writer's token. Newest is the greatest token that the resource has seen.
	Token, Newest uint64
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("token %d for %q is stale: token %d has been seen, so another holder has taken over; stop writing", e.Token, e.Resource, e.Newest)
}
