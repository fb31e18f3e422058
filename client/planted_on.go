//go:build planted

package client

import (
	"os"
	"strings"
	"time"
)

// sentAt can be made wrong, so that the tests of the harness see that it is caught: see internal/planted. No release is built so.
func sentAt(sent, now time.Duration) time.Duration {
	if strings.Contains(os.Getenv("PLANTED_BUGS"), "deadline counted from the answer") {
		return now
	}
	return sent
}
