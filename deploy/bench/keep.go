package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// keepResult holds the cost of keeping permits alive.
type keepResult struct {
	keeperReport
	// ServersCPU is the CPU usage of all servers during the window, as a percentage of one core.
	ServersCPU float64 `json:"servers_cpu_percent"`
}

// The target is that one client keeps 10,000 permits alive over one stream, using less than 5% of one core and without
// missing a refresh. Each permit has a duration of 30 s.
const (
	keepDuration  = 30 * time.Second
	keepTargetCPU = 5.0
	// twoRefreshes is the time within which every permit is refreshed twice. The client refreshes a permit after a
	// third of its duration, plus or minus a tenth of that.
	twoRefreshes = 2 * (keepDuration/3 + keepDuration/30)
)

// measureKeep starts a separate process that keeps permits alive on three servers, and reads the servers' counters
// during its window.
func (b *bench) measureKeep(ctx context.Context) (*keepResult, error) {
	cluster, leader, err := b.start(ctx, "keep", 3)
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	conn, err := leader.Conn()
	if err != nil {
		return nil, err
	}
	if err := define(ctx, conn, 1); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-keeper", strings.Join(cluster.Endpoints(), ","),
		"-permits", strconv.Itoa(b.permits), "-keep-for", b.keepFor.String())
	cmd.Stderr = os.Stderr
	servers.DieWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	k, err := b.watchKeeper(ctx, cluster, bufio.NewReader(out))
	if err != nil {
		_ = cmd.Process.Kill() // it may have exited already
	}
	if ended := cmd.Wait(); err == nil || errors.Is(err, errKeeperExited) {
		return k, errors.Join(err, ended)
	}
	return nil, err
}

// errKeeperExited means that the keeper process exited early. It has already printed the reason.
var errKeeperExited = errors.New("the process that holds the permits exited early")

// watchKeeper reads the keeper's output: a line when its window begins, and a line with its report.
func (b *bench) watchKeeper(ctx context.Context, cluster *servers.Cluster, out *bufio.Reader) (*keepResult, error) {
	if _, err := out.ReadString('\n'); err != nil {
		return nil, errKeeperExited
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return nil, err
	}
	k := &keepResult{}
	before, err := cpu(ctx, cluster)
	if err != nil {
		return nil, err
	}
	err = withoutWrites(ctx, leader, func() error {
		line, err := out.ReadBytes('\n')
		if err != nil {
			return errKeeperExited
		}
		return json.Unmarshal(line, &k.keeperReport)
	})
	if err != nil {
		return nil, err
	}
	after, err := cpu(ctx, cluster)
	if err != nil {
		return nil, err
	}
	k.ServersCPU = 100 * (after - before) / k.Seconds
	return k, k.check()
}

// check returns an error if any guarantee that is independent of the machine's speed was broken.
func (k *keepResult) check() error {
	switch {
	case k.Lost > 0:
		return fmt.Errorf("%d of %d permits were lost, the first because %s", k.Lost, k.Permits, k.FirstLoss)
	case k.Missed > 0:
		return fmt.Errorf("%d of %d permits were not refreshed twice in %.0f s", k.Missed, k.Permits, k.Seconds)
	case k.Tokens < k.Permits: // a frame may have been in flight when counting began
		return fmt.Errorf("%d tokens were sent, too few to refresh %d permits twice", k.Tokens, k.Permits)
	case k.NotRefreshed > 0:
		return fmt.Errorf("%d results reported that the permit was not refreshed", k.NotRefreshed)
	case k.Streams != 1:
		return fmt.Errorf("%d streams were used, want one", k.Streams)
	}
	return nil
}

// cpu returns the total CPU time of all servers, in seconds.
func cpu(ctx context.Context, cluster *servers.Cluster) (total float64, err error) {
	for _, s := range cluster.Servers {
		c, err := scrape(ctx, s)
		if err != nil {
			return 0, err
		}
		total += c.cpu
	}
	return total, nil
}
