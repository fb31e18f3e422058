package load

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Options configure the clients. All fields except Bare, Library, Visitors and Credentials are required.
type Options struct {
	// Seed determines the clients' actions, except where they depend on the servers.
	Seed uint64
	// Endpoints are the API addresses.
	Endpoints []string
	World     []Semaphore
	// Work lists the semaphores whose permits carry tasks.
	Work []Semaphore
	// Put receives the clients' records.
	Put func(history.Entry)
	// Bare is the number of clients that call the API directly, and Library the number of clients that use the client
	// library. Visitors is the number of clients that call the API directly and use the semaphores with tasks.
	Bare, Library, Visitors int
	// Credentials are the credentials of bare clients. nil means plaintext. The client library reads its credentials
	// from GK_TLS_CA etc.
	Credentials credentials.TransportCredentials
}

// Clients are a run's clients in this process.
type Clients struct {
	opts     Options
	servers  endpoints
	held     heldTokens
	pending  pending
	operator *operator
	all      sync.WaitGroup
	storms   int
	clocks   []*steppedClock // clocks of the library clients
	crowds   []*endpoints    // connections of the crowds
}

// New connects the clients and creates the semaphores.
func New(ctx context.Context, opts Options) (*Clients, error) {
	c := &Clients{opts: opts, servers: endpoints{credentials: opts.Credentials}}
	if err := c.SetEndpoints(opts.Endpoints); err != nil {
		return nil, err
	}
	c.operator = c.newOperator("operator")
	if err := c.operator.create(ctx, slices.Concat(opts.World, opts.Work)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// SetEndpoints sets the servers' addresses for later calls.
func (c *Clients) SetEndpoints(endpoints []string) error { return c.servers.set(endpoints) }

func (c *Clients) recorder(name string) caller {
	return caller{history.NewRecorder(name, boottime.Now, c.opts.Put)}
}

// random returns a client's random source, which depends only on the seed and the client's name.
func (c *Clients) random(name string) *rand.Rand { return newRandom(c.opts.Seed, name) }

func newRandom(seed uint64, name string) *rand.Rand {
	h := seed
	for _, b := range []byte(name) {
		h = h*1099511628211 + uint64(b)
	}
	return rand.New(rand.NewPCG(seed, h))
}

// Start starts the clients. They stop when the context is done. Use Wait to wait until they have stopped.
func (c *Clients) Start(ctx context.Context) error {
	for i := range c.opts.Library {
		name := libraryName(i)
		random := c.random(name)
		// Clock rates differ by up to the permitted amount.
		clock := &steppedClock{rate: 1 + (2*random.Float64()-1)*maxClockDrift}
		c.clocks = append(c.clocks, clock)
		l, err := newLibrary(ctx, c.opts, name, name, clock)
		if err != nil {
			return err
		}
		c.all.Go(func() {
			defer l.client.Close()
			l.run(ctx, 4, random.Uint64())
		})
	}
	for i := range c.opts.Bare {
		b := c.bare(bareName(i), c.opts.World)
		b.identities = newIdentities(b.Client(), i)
		c.all.Go(func() { b.run(ctx) })
	}
	for i := range c.opts.Visitors {
		b := c.bare(fmt.Sprintf("visitor-%d", i), withTasks(c.opts.Work))
		b.waitFraction = 0.5
		c.all.Go(func() { b.visit(ctx) })
	}
	for _, s := range slices.Concat(c.opts.World, c.opts.Work) {
		o := c.newOperator("operator of " + s.Name)
		c.all.Go(func() { o.run(ctx, s) })
	}
	return nil
}

func libraryName(i int) string { return fmt.Sprintf("library-%d", i) }

func (c *Clients) newOperator(name string) *operator {
	return &operator{caller: c.recorder(name), random: c.random(name), servers: &c.servers, held: &c.held}
}

func bareName(i int) string { return fmt.Sprintf("bare-%d", i) }

// pairName returns the acquirer of the identity that two bare clients share.
func pairName(pair int) string { return fmt.Sprintf("bare-pair-%d", pair) }

func (c *Clients) bare(name string, world []Semaphore) *bare {
	return &bare{
		caller: c.recorder(name), random: c.random(name), servers: &c.servers, world: world, held: &c.held, pending: &c.pending, waitFraction: 0.15,
	}
}

// Storm adds clients that make requests as fast as they can until the context is done. It is not safe for concurrent
// use.
func (c *Clients) Storm(ctx context.Context, count int) {
	for range count {
		c.storms++
		b := &bare{caller: c.recorder(fmt.Sprintf("storm-%d", c.storms)), servers: &c.servers, world: c.opts.World}
		b.random = c.random(b.Client())
		c.all.Go(func() {
			for ctx.Err() == nil {
				b.lastID++
				s := b.world[b.random.IntN(len(b.world))]
				if s.FiringInterval > 0 {
					continue
				}
				r := history.Request{Semaphore: s.Name, Identity: history.Identity{Group: "storm", Acquirer: b.Client()}, RequestID: fmt.Sprintf("%s-%d", b.Client(), b.lastID), Weight: 1}
				callCtx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
				on := b.randomServer()
				if resp, _ := b.acquire(callCtx, on, r, false); resp.Result == history.Granted {
					b.release(callCtx, on, s.Name, resp.Token, jobDone)
				}
				cancel()
			}
		})
	}
}

// Watch opens watch streams but reads only the first message of each. It keeps them open until the context is done.
func (c *Clients) Watch(ctx context.Context, count int) {
	random := c.random("watch")
	for range count {
		on := c.servers.randomServer(random)
		c.all.Go(func() {
			stream, err := on.watch.Watch(ctx, &gatekeeperv1.WatchRequest{Permits: true})
			if err == nil {
				_, err = stream.Recv()
			}
			if err == nil {
				<-ctx.Done()
			}
		})
	}
}

// Wait waits until all clients have stopped, which they do when their context is done.
func (c *Clients) Wait() { c.all.Wait() }

// ReadAll reads every definition. It is called after the faults have ended.
func (c *Clients) ReadAll(ctx context.Context) error {
	return c.operator.readAll(ctx, slices.Concat(c.opts.World, c.opts.Work))
}

// Close closes the connections.
func (c *Clients) Close() {
	c.servers.close()
	for _, servers := range c.crowds {
		servers.close()
	}
}

// Hold runs a library client until the context is done. It is the main function of a separate process. If the process
// is killed, its successor has a different name but the same host.
func Hold(ctx context.Context, name, host string, opts Options) error {
	l, err := newLibrary(ctx, opts, name, host, &steppedClock{rate: 1})
	if err != nil {
		return err
	}
	l.run(ctx, 6, opts.Seed)
	err = l.client.Close()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newLibrary(ctx context.Context, opts Options, name, host string, clock client.Clock) (*libraryClient, error) {
	c, err := client.Dial(ctx, opts.Endpoints, client.WithGroup("east"), client.WithAcquirer(name), client.WithClock(clock),
		client.WithLogger(discardLogger())) // warnings about shared identities are expected
	if err != nil {
		return nil, err
	}
	return &libraryClient{
		caller: caller{history.NewRecorder(name, boottime.Now, opts.Put)}, client: c, world: opts.World, host: host, shared: "library-pair",
	}, nil
}
