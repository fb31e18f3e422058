package fence

import (
	"errors"
	"fmt"
)

// ErrNoToken: the write carries no token. A job that runs without a permit has none.
var ErrNoToken = errors.New("the write carries no fencing token")

// StaleError refuses a write: a newer holder has been here.
type StaleError struct {
	Resource string
	// Token is the writer's, Newest the greatest that was seen.
	Token, Newest uint64
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("token %d for %q is stale: token %d has been seen, so another holder has taken over: stop", e.Token, e.Resource, e.Newest)
}
