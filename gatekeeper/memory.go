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

// Memory replaces a data directory in tests of programs that use Gatekeeper; package client/gktest uses it. A server
// that is closed and reopened on the same Memory finds its data again, as it would on disk.
//
// Do not use it in production. When the process exits, the permits are lost while their holders continue, and tokens
// start over, so a fence would accept a stale holder. For that reason, gatekeeperd has no such mode, and an in-memory
// server has no other members. Only an in-memory server supports ExpireNow.
type Memory consensus.Memory

// NewMemory returns an empty Memory. Only one server at a time can use it.
func NewMemory() *Memory { return (*Memory)(consensus.NewMemory()) }

var (
	// ErrNotInMemory is returned by ExpireNow if the server was opened without Config.Memory.
	ErrNotInMemory = errors.New("only an in-memory server, for tests, can expire permits early")
	// ErrNoSuchPermit is returned by ExpireNow if there is no live or cooling permit with that token.
	ErrNoSuchPermit = errors.New("no such permit")
)

// ExpireNow ends a permit, or its cooling, as if its deadline had passed. Its holder is notified as it is after any
// expiry, and may still rely on the permit until then, so a job may run twice. ExpireNow is for tests, and returns
// ErrNotInMemory without Config.Memory. It returns ErrNoSuchPermit for an unknown token, and other errors if the server
// is closed or is not yet the leader.
func (s *Server) ExpireNow(ctx context.Context, token uint64) error {
	if s.cfg.Memory == nil {
		return ErrNotInMemory
	}
	_, err := s.keeper.ExpireNow(ctx, token)
	if noPermit, ok := errors.AsType[*keeper.NoSuchPermitError](err); ok {
		return fmt.Errorf("%w: %w", ErrNoSuchPermit, noPermit)
	}
	return err
}

// profileMemory makes a server lead immediately: an in-memory log does not stall, and there are no other members to
// wait for.
const profileMemory Profile = "memory"

const memoryTimeout = 50 * time.Millisecond

func (c *Config) timeouts() consensus.Timeouts {
	if c.Profile == profileMemory {
		return consensus.Timeouts{Heartbeat: memoryTimeout, Election: memoryTimeout}
	}
	return c.Profile.timeouts()
}

// location returns the data directory as shown in logs.
func (c *Config) location() string {
	if c.Memory != nil {
		return "memory"
	}
	return c.DataDir
}

// dial returns the function that dials other servers, or nil for TCP.
func (c *Config) dial() func(context.Context, string) (net.Conn, error) {
	if c.Memory == nil {
		return nil
	}
	return c.consensusMemory().Dial()
}

// consensusMemory returns the Memory as its consensus type, or nil.
func (c *Config) consensusMemory() *consensus.Memory {
	return (*consensus.Memory)(c.Memory)
}
