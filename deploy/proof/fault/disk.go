package fault

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/servers"
)

// damage kills a follower, tears or flips bytes of one of its files, and starts it again. Servers are allowed to refuse what is
// damaged; then another member takes its place.
func damage(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.hurting.Lock() // nobody survives the damage of a majority
	defer a.hurting.Unlock()
	s := a.follower(ctx, random)
	a.mu.Lock()
	s.Kill()
	what, err := hurt(s.Data(), random)
	a.mu.Unlock()
	if err != nil {
		return err
	}
	a.Note("damage: "+what, s.ID)
	// What is damaged is replaced also when the time of faults is over.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer stop()
	if err := a.start(s); err != nil {
		return err
	}
	ready, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.Ready(ready); err == nil {
		return nil
	}
	if s.Running() {
		return nil // other faults go on, or it waits for them
	}
	code, _ := s.Exited()
	a.Note(fmt.Sprintf("damage was refused, exit code %d", code), s.ID)
	if err := a.join(ctx); err != nil {
		return err
	}
	return a.remove(ctx, random, s)
}

// hurt damages a file of the log, the stable store or a snapshot.
func hurt(dir string, random *rand.Rand) (string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".lock" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		return "", err
	}
	path := files[random.IntN(len(files))]
	if random.IntN(2) == 0 {
		path = filepath.Join(dir, "raft.db") // the log, the term and the vote
	}
	content, err := os.ReadFile(path)
	if err != nil || len(content) == 0 {
		return "nothing", err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return "", err
	}
	switch random.IntN(3) {
	case 0:
		n := random.IntN(len(content))
		return fmt.Sprintf("%s torn at %d of %d", name, n, len(content)), os.WriteFile(path, content[:n], 0o600)
	case 1:
		at := random.IntN(len(content))
		content[at] ^= 1 << random.IntN(8)
		return fmt.Sprintf("%s: a bit flipped at %d", name, at), os.WriteFile(path, content, 0o600)
	default:
		at := random.IntN(len(content))
		for i := at; i < min(len(content), at+512); i++ {
			content[i] = 0
		}
		return fmt.Sprintf("%s: zeroes at %d", name, at), os.WriteFile(path, content, 0o600)
	}
}

// fullDisk lets a server's disk be full for a while; the server leaves and is started again.
func fullDisk(ctx context.Context, a *Arena, random *rand.Rand) error {
	if a.Full == nil {
		return nil
	}
	s := a.leader(ctx, random)
	if random.IntN(2) == 0 {
		s = a.follower(ctx, random)
	}
	return a.fill(ctx, random, s)
}

func (a *Arena) fill(ctx context.Context, random *rand.Rand, s *servers.Server) error {
	a.Note("full-disk", s.ID)
	empty, err := a.Full(s)
	if err != nil {
		return err
	}
	rest(ctx, between(random, 500*time.Millisecond, 3*time.Second))
	if code, ok := s.Exited(); ok {
		a.Note(fmt.Sprintf("left with exit code %d", code), s.ID)
	}
	empty()
	return a.start(s)
}
