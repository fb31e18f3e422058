package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
)

// Memory takes the place of a data folder in tests of programs that use Gatekeeper: package client/gktest does it. A
// server that is closed and opened again on the same Memory finds what it had, as on a disk.
//
// It is not for work. With the process that ends, the permits are forgotten while their holders continue, and tokens
// start over, so that a fence lets a stale holder through. So gatekeeperd has no such mode, a server in memory is
// always alone, and only such a one has ExpireNow.
type Memory consensus.Memory

// NewMemory returns an empty Memory. One server at a time uses it.
func NewMemory() *Memory { return (*Memory)(consensus.NewMemory()) }

var (
	// ErrNotInMemory answers ExpireNow: this server was opened without Config.Memory.
	ErrNotInMemory = errors.New("only a server in memory, for tests, ends permits before their time")
	// ErrNoSuchPermit answers ExpireNow: there is no live or cooling permit with that token.
	ErrNoSuchPermit = errors.New("no such permit")
)

// ExpireNow ends a permit, or its cooling, as if its deadline had passed. Its holder hears of it as after any expiry,
// and may believe in the permit until it has heard: a job may run twice. So it is for tests, and fails with
// ErrNotInMemory without Config.Memory. Other errors: ErrNoSuchPermit, and those of a server that is closed or does not
// lead yet.
func (s *Server) ExpireNow(ctx context.Context, token uint64) error {
	if s.cfg.Memory == nil {
		return ErrNotInMemory
	}
	_, err := s.keeper.ExpireNow(ctx, token)
	if no, ok := errors.AsType[*keeper.NoSuchPermitError](err); ok {
		return fmt.Errorf("%w: %w", ErrNoSuchPermit, no)
	}
	return err
}

// profileMemory leads at once: nothing stalls in memory, and there is nobody else to hear from.
const profileMemory Profile = "memory"

const memoryTimeout = 50 * time.Millisecond

func (c *Config) timeouts() consensus.Timeouts {
	if c.Profile == profileMemory {
		return consensus.Timeouts{Heartbeat: memoryTimeout, Election: memoryTimeout}
	}
	return c.Profile.timeouts()
}

// where is the data folder, as logs name it.
func (c *Config) where() string {
	if c.Memory != nil {
		return "memory"
	}
	return c.DataDir
}

// dial is how the other servers are reached; nil for TCP.
func (c *Config) dial() func(context.Context, string) (net.Conn, error) {
	if c.Memory == nil {
		return nil
	}
	return c.consensusMemory().Dial()
}

// consensusMemory is the Memory as consensus knows it, or nil.
func (c *Config) consensusMemory() *consensus.Memory {
	return (*consensus.Memory)(c.Memory)
}
