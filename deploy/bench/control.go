package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// control holds the latencies of operator actions on three servers. Times are in µs unless noted.
type control struct {
	// RoundTrip is the median latency of a call that one server handles without involving the others.
	RoundTrip float64 `json:"round_trip_us"`
	// The delivery time is the time from the response to an edit until watchers on all servers have received it.
	DeliveryP50 float64 `json:"edit_heard_p50_us"`
	DeliveryMax float64 `json:"edit_heard_max_us"`
	// Batch is the median time of a batch of batchEdits edits, in ms.
	Batch float64 `json:"batch_ms"`
	// The handover time is the time from sending a release until the waiter receives its grant. CommitP50 is the
	// latency of a release without a waiter. Floor is the time that two consecutive syncs and two hops take. A hop is
	// measured as a call that one server handles on its own. The three are measured alternately.
	HandoverP50 float64 `json:"hand_over_p50_us"`
	CommitP50   float64 `json:"commit_p50_us"`
	Floor       float64 `json:"floor_us"`
	// WatchersCPU is the leader's CPU usage as a percentage of one core, with manyWatchers watchers and eventsPerSecond
	// events per second.
	WatchersCPU float64 `json:"watchers_cpu_percent"`
	Events      int     `json:"events_told"`
}

const (
	edits      = 100
	batchEdits = 1000
	batches    = 5
	handovers  = 100

	manyWatchers    = 1000
	eventsPerSecond = 10
	watchFor        = 5 * time.Second

	// Targets: two round trips for the delivery, twice the floor for the handover, 100 ms for a batch, and a fifth of a
	// core for the watchers.
	batchTarget    = 100.0
	watchersTarget = 20.0
)

// measureControl starts three servers and measures operator actions.
func (b *bench) measureControl(ctx context.Context) (*control, error) {
	appendOnce, f, err := b.appender("control-sync")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cluster, leader, err := b.start(ctx, "control", 3)
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	conn, err := leader.Conn()
	if err != nil {
		return nil, err
	}
	if err := define(ctx, conn, batchEdits); err != nil {
		return nil, err
	}
	c := &control{}
	trip := func() error {
		_, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
		return err
	}
	trips, err := b.windows.loop(ctx, 1, func(context.Context, int) (int, error) { return 1, trip() })
	if err != nil {
		return nil, err
	}
	c.RoundTrip = trips.P50
	handover := func(ctx context.Context, _ *servers.Cluster, _ *servers.Server, conn *grpc.ClientConn) error {
		return c.measureHandover(ctx, conn, appendOnce, trip)
	}
	for _, part := range []struct {
		name    string
		measure func(context.Context, *servers.Cluster, *servers.Server, *grpc.ClientConn) error
	}{
		{"edits and watchers", c.measureDelivery}, {"batches", c.measureBatch}, {"handover", handover}, {"many watchers", c.measureWatchers},
	} {
		if err := part.measure(ctx, cluster, leader, conn); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return c, nil
}

// received is a revision and the time at which a watcher received it.
type received struct {
	revision uint64
	at       time.Time
}

// listen watches definitions on a server and sends the events to a channel. It returns once the first message confirms
// that the watch is established.
func listen(ctx context.Context, conn *grpc.ClientConn, to chan<- received) error {
	stream, err := gatekeeperv1.NewWatchServiceClient(conn).Watch(ctx, &gatekeeperv1.WatchRequest{})
	if err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	go func() {
		for {
			r, err := stream.Recv()
			if err != nil {
				return // ctx is done, or the consumer will time out
			}
			for _, e := range r.GetEvents() {
				select {
				case to <- received{e.GetRevision(), time.Now()}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return nil
}

// measureDelivery makes edits and, after each one, waits until a watcher on every server has received it.
func (c *control) measureDelivery(ctx context.Context, cluster *servers.Cluster, _ *servers.Server, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("a watcher did not receive an edit"))
	defer cancel()
	updates := make([]chan received, len(cluster.Servers))
	for i, s := range cluster.Servers {
		watchConn, err := s.Conn()
		if err != nil {
			return err
		}
		updates[i] = make(chan received, edits)
		if err := listen(ctx, watchConn, updates[i]); err != nil {
			return err
		}
	}
	var took []time.Duration
	for n := range edits {
		revision, _, err := edit(ctx, conn, 1, n)
		if err != nil {
			return err
		}
		answered, last := time.Now(), time.Time{}
		for _, ch := range updates {
			for got := (received{}); got.revision < revision; {
				select {
				case got = <-ch:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				if got.at.After(last) {
					last = got.at
				}
			}
		}
		took = append(took, max(last.Sub(answered), 0))
	}
	slices.Sort(took)
	c.DeliveryP50, c.DeliveryMax = load.Micros(took[len(took)/2]), load.Micros(took[len(took)-1])
	return nil
}

// edit replaces the first count definitions in one batch, changing only their descriptions, and returns how long the
// batch took.
func edit(ctx context.Context, conn *grpc.ClientConn, count, n int) (revision uint64, took time.Duration, err error) {
	service := gatekeeperv1.NewDefinitionServiceClient(conn)
	batch := &gatekeeperv1.BatchEditRequest{Author: "bench"}
	for i := range count {
		r, err := service.GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: ownName(i)})
		if err != nil {
			return 0, 0, err
		}
		definition := r.GetRecord().GetDefinition()
		definition.Description = fmt.Sprintf("edit %d", n)
		batch.Edits = append(batch.Edits, &gatekeeperv1.Edit{
			Change: &gatekeeperv1.Edit_Replace{Replace: definition}, ExpectedVersion: r.GetRecord().GetVersion(),
		})
	}
	began := time.Now()
	resp, err := service.BatchEdit(ctx, batch)
	return resp.GetRevision(), time.Since(began), err
}

// measureBatch measures batches of many edits.
func (c *control) measureBatch(ctx context.Context, _ *servers.Cluster, _ *servers.Server, conn *grpc.ClientConn) error {
	var all []time.Duration
	for n := range batches {
		_, took, err := edit(ctx, conn, batchEdits, edits+n)
		if err != nil {
			return err
		}
		all = append(all, took)
	}
	slices.Sort(all)
	c.Batch = load.Micros(all[len(all)/2]) / 1000
	return nil
}

// measureHandover repeatedly releases a permit that has a waiter, alternating with the operations it is compared with.
func (c *control) measureHandover(ctx context.Context, conn *grpc.ClientConn, appendOnce, trip func() error) error {
	permits := gatekeeperv1.NewPermitServiceClient(conn)
	release := func(token uint64) error {
		r, err := permits.Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
		if err == nil && !r.GetReleased() {
			err = fmt.Errorf("not released: %s", r.GetMessage())
		}
		return err
	}
	var took, commits, syncs, trips []time.Duration
	timed := func(to *[]time.Duration, do func() error) error {
		began := time.Now()
		err := do()
		*to = append(*to, time.Since(began))
		return err
	}
	for n := range handovers {
		holder, err := acquire(ctx, conn, ownName(0), identity(0, fmt.Sprintf("holder %d", n)))
		if err != nil {
			return err
		}
		waiting, err := permits.Acquire(ctx, &gatekeeperv1.AcquireRequest{
			Semaphore: ownName(0), Identity: identity(1, fmt.Sprintf("waiter %d", n)), RequestId: fmt.Sprintf("waits %d", n),
		})
		if err != nil {
			return err
		}
		if first, err := waiting.Recv(); err != nil || first.GetPlace() == nil {
			return fmt.Errorf("the waiter is not queued: %v, %w", first, err)
		}
		released := make(chan error, 1)
		began := time.Now()
		go func() { released <- release(holder) }()
		var granted uint64
		for granted == 0 {
			r, err := waiting.Recv()
			if err != nil {
				return err
			}
			granted = r.GetGrant().GetPermit().GetToken()
		}
		took = append(took, time.Since(began))
		if err := <-released; err != nil {
			return err
		}
		if err := timed(&commits, func() error { return release(granted) }); err != nil {
			return err
		}
		if err := errors.Join(timed(&syncs, appendOnce), timed(&trips, trip)); err != nil {
			return err
		}
	}
	c.HandoverP50, _ = median(took)
	c.CommitP50, _ = median(commits)
	synced, _ := median(syncs)
	tripped, _ := median(trips)
	c.Floor = 2*synced + 2*tripped
	return nil
}

// measureWatchers opens many watches on the leader, makes edits at a steady rate, and measures the leader's CPU time.
func (c *control) measureWatchers(ctx context.Context, _ *servers.Cluster, leader *servers.Server, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("the watchers did not receive every edit"))
	defer cancel()
	conns, err := load.Dial(leader.API)
	if err != nil {
		return err
	}
	defer conns.Close()
	delivered := make(chan received, 1024)
	for i := range manyWatchers {
		if err := listen(ctx, conns.ForCaller(i), delivered); err != nil {
			return err
		}
	}
	before, err := scrape(ctx, leader)
	if err != nil {
		return err
	}
	began := time.Now()
	expected := int(watchFor.Seconds()) * eventsPerSecond
	failed := make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second / eventsPerSecond)
		defer tick.Stop()
		for n := range expected {
			<-tick.C
			if _, _, err := edit(ctx, conn, 1, edits+batches+n); err != nil {
				failed <- err
				return
			}
		}
	}()
	for c.Events < expected*manyWatchers {
		select {
		case <-delivered:
			c.Events++
		case err := <-failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%w: got %d of %d events", context.Cause(ctx), c.Events, expected*manyWatchers)
		}
	}
	after, err := scrape(ctx, leader)
	if err != nil {
		return err
	}
	c.WatchersCPU = 100 * (after.cpu - before.cpu) / time.Since(began).Seconds()
	return nil
}

func (c *control) print(out io.Writer) {
	fmt.Fprintf(out, "Watchers on all three servers received an edit %.0f µs after its response (median; maximum %.0f)%s. Two round trips take %.0f µs.\n",
		c.DeliveryP50, c.DeliveryMax, missed(c.DeliveryP50, 2*c.RoundTrip), 2*c.RoundTrip)
	fmt.Fprintf(out, "A batch of %d edits took %.1f ms%s. The target is less than %.0f ms.\n", batchEdits, c.Batch, missed(c.Batch, batchTarget), batchTarget)
	fmt.Fprintf(out, "The next waiter's grant arrived %.0f µs after a release, which is %.1f times the floor of two syncs and two hops%s (%.0f µs). The target is less than twice the floor. "+
		"A release alone, which is one commit, took %.0f µs.\n",
		c.HandoverP50, c.HandoverP50/c.Floor, missed(c.HandoverP50, 2*c.Floor), c.Floor, c.CommitP50)
	fmt.Fprintf(out, "With %d watchers and %d events per second, the leader used %.1f%% of one core%s. The target is less than %.0f%%.\n",
		manyWatchers, eventsPerSecond, c.WatchersCPU, missed(c.WatchersCPU, watchersTarget), watchersTarget)
}
