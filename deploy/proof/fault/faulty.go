package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Kinds that require servers whose disks fail on command.
const (
	SlowDisk  = "slow-disk"
	DiskError = "disk-error"
)

// hangDelay exceeds the ten seconds after which a server assumes that its disk is hung. exitTimeout is how long a
// server may take to exit.
const (
	hangDelay   = 11 * time.Second
	exitTimeout = 15 * time.Second
)

// victims returns either the leader, a follower, or a majority.
func (a *Arena) victims(ctx context.Context, random *rand.Rand) []*servers.Server {
	leader, follower := a.leader(ctx, random), a.follower(ctx, random)
	switch random.IntN(3) {
	case 0:
		return []*servers.Server{leader}
	case 1:
		return []*servers.Server{follower}
	}
	if leader == follower { // the leader changed in the meantime
		return []*servers.Server{leader}
	}
	return []*servers.Server{leader, follower}
}

// setDisks puts each server's disk into the given state.
func (a *Arena) setDisks(all []*servers.Server, state string) error {
	for _, s := range all {
		if err := a.Disk(s, state); err != nil {
			return err
		}
	}
	return nil
}

// slowDisk delays writes by less than half the leader's lease, by more than the lease, or, rarely, by more than the
// time after which a server exits. Even a delay above the lease must not cause an election.
func slowDisk(ctx context.Context, a *Arena, random *rand.Rand) error {
	all := a.victims(ctx, random)
	delay, length := between(random, 5*time.Millisecond, a.Lease/2), between(random, time.Second, 4*time.Second)
	switch random.IntN(8) {
	case 0:
		delay, length = hangDelay, 0
	case 1, 2, 3:
		delay, length = between(random, a.Lease, 3*a.Lease), between(random, 100*time.Millisecond, 2*time.Second)
	}
	for _, s := range all {
		a.Note(fmt.Sprintf("%s: %v", SlowDisk, delay), s.ID)
	}
	if err := a.setDisks(all, "delay "+delay.String()); err != nil {
		return err
	}
	if delay == hangDelay {
		return a.awaitExit(ctx, random, all)
	}
	sleep(ctx, length)
	if err := a.setDisks(all, ""); err != nil {
		return err
	}
	for _, s := range all {
		if code, ok := s.Exited(); ok {
			return fmt.Errorf("%s exited with code %d even though its disk was delayed by only %v\n%s", s.ID, code, delay, s.LogTail())
		}
	}
	a.Note("repaired", "")
	return nil
}

// diskError makes all further writes fail, either before anything is written or after everything has been written.
// The server must exit.
func diskError(ctx context.Context, a *Arena, random *rand.Rand) error {
	all := a.victims(ctx, random)
	state := []string{"fail write", "fail sync"}[random.IntN(2)]
	for _, s := range all {
		a.Note(DiskError+": "+state, s.ID)
	}
	if err := a.setDisks(all, state); err != nil {
		return err
	}
	return a.awaitExit(ctx, random, all)
}

// awaitExit waits until the servers with failing disks have exited, as they must, repairs the disks, and restarts the
// servers. It does so even after fault injection has ended, because a server that does not exit is exactly the bug to
// find.
func (a *Arena) awaitExit(ctx context.Context, random *rand.Rand, all []*servers.Server) error {
	for _, s := range all {
		// A follower whose leader has a hung disk may have nothing to write until the leader exits, so each server has
		// a separate time limit.
		exitCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exitTimeout)
		code, err := s.WaitExit(exitCtx)
		cancel()
		if err != nil {
			return fmt.Errorf("even though its disk is failing, %w", err)
		}
		a.Note(fmt.Sprintf("exited with code %d", code), s.ID)
		if code != exitFault {
			return fmt.Errorf("%s exited with code %d when its disk failed, want %d\n%s", s.ID, code, exitFault, s.LogTail())
		}
	}
	sleep(ctx, between(random, 0, time.Second))
	if err := a.setDisks(all, ""); err != nil {
		return err
	}
	for _, s := range all {
		if err := a.start(s); err != nil {
			return err
		}
	}
	return nil
}
