package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// unreachable is an address that no server listens on.
const unreachable = "127.0.0.1:1"

// silent returns an option that discards the log.
func silent() client.Option { return client.WithLogger(slog.New(slog.DiscardHandler)) }

func ExampleDial() {
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, // on client.DefaultPort
		client.WithGroup("prod"), // or GK_GROUP, or client.DefaultGroup
		client.WithAcquirer("app1"),
		client.WithAttemptTimeout(client.DefaultAttemptTimeout/5), // for a fast network
		client.WithGRPC(grpc.WithUserAgent("nightly-export")),
		client.WithLogger(slog.Default()),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println("without endpoints:", client.DefaultEndpoint, "which is port", client.DefaultPort)
	fmt.Println("without a group:", client.DefaultGroup)
	// Output:
	// without endpoints: 127.0.0.1:7420 which is port 7420
	// without a group: default
}

// Calls to an unreachable server are retried until the context ends. The error lists the endpoints that were tried.
func ExampleUnavailableError() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := client.Dial(ctx, []string{unreachable}, silent())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	_, err = c.Semaphore("nightly-export").TryAcquire(ctx)
	fmt.Println("unavailable:", errors.Is(err, client.ErrUnavailable))
	fmt.Println("deadline exceeded:", errors.Is(err, context.DeadlineExceeded))
	fmt.Println("it may have been granted:", errors.Is(err, client.ErrOutcomeUnknown))
	if unavailable, ok := errors.AsType[*client.UnavailableError](err); ok {
		tried := func(a client.Attempt) { fmt.Println("tried:", a.Endpoint, a.Err != nil) }
		for _, a := range unavailable.Tried {
			tried(a)
		}
		fmt.Println("no leader:", unavailable.NoLeader())
		fmt.Println("recovering:", unavailable.Recovering())
		fmt.Println("throttled:", unavailable.Throttled())
	}
	// Output:
	// unavailable: true
	// deadline exceeded: true
	// it may have been granted: false
	// tried: 127.0.0.1:1 true
	// no leader: false
	// recovering: false
	// throttled: false
}

// If the context has already ended, no server is called.
func ExampleSemaphore_TryAcquire_contextEnded() {
	clients, end := connect("app1")
	defer end()
	ended, cancel := context.WithCancel(context.Background())
	cancel()

	_, err := client.Dial(ended, nil)
	fmt.Println(err)
	_, err = clients[0].Semaphore("nightly-export").TryAcquire(ended)
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, client.ErrOutcomeUnknown))
	// Output:
	// context canceled
	// true false
}

// A client does not use a server whose certificate is not signed by a trusted authority.
func ExampleWithTLS() {
	ctx := context.Background()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.EnableHTTP2 = true
	untrusted.StartTLS()
	defer untrusted.Close()

	c, err := client.Dial(ctx, []string{untrusted.Listener.Addr().String()}, silent(), client.WithTLS(client.TLS{})) // trusts the system's authorities
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.Members(ctx, &gatekeeperv1.GetStatusRequest{})
	fmt.Println(errors.Is(err, client.ErrUnavailable), strings.Contains(err.Error(), "certificate signed by unknown authority"))

	_, err = client.Dial(ctx, nil, client.WithTLS(client.TLS{CAFile: "/etc/gatekeeper/none.pem"}))
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	_, err = client.Dial(ctx, nil, client.WithTLS(client.TLS{CertFile: "client.pem"}))
	fmt.Println(err)
	// Output:
	// true true
	// true
	// specify both a TLS certificate and a key, or neither
}

// A refused call changes nothing. Its error is or wraps a *StatusError, and usually has a more specific type.
func ExampleStatusError() {
	clients, end := connect("app1")
	defer end()
	ctx, definitions := context.Background(), clients[0].Definitions()

	_, err := definitions.CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "billing", GroupPattern: new("prod(")},
	})
	if e, ok := errors.AsType[*client.InvalidFieldError](err); ok {
		fmt.Printf("%s = %q\n", e.Field, e.Value)
	}
	_, err = definitions.CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{Definition: &gatekeeperv1.Definition{Name: "nightly-export"}})
	if e, ok := errors.AsType[*client.AlreadyExistsError](err); ok {
		fmt.Println(e.Name, "exists, version known:", e.Current > 0)
	}
	_, err = definitions.ReplaceDefinition(ctx, &gatekeeperv1.ReplaceDefinitionRequest{
		Definition: &gatekeeperv1.Definition{Name: "nightly-export"}, ExpectedVersion: 999,
	})
	if e, ok := errors.AsType[*client.StaleVersionError](err); ok {
		fmt.Println(e.Name, "is not at version", e.Expected)
	}
	_, err = definitions.GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: "biling"})
	if e, ok := errors.AsType[*client.NoSuchDefinitionError](err); ok {
		fmt.Println("no such definition:", e.Name)
	}
	_, err = clients[0].Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: 17})
	if e, ok := errors.AsType[*client.NoSuchPermitError](err); ok {
		fmt.Println("no such permit:", e.Token)
	}
	if e, ok := errors.AsType[*client.StatusError](err); ok { // matches all of these types
		fmt.Println(e.Code == codes.NotFound, e.Reason)
	}
	// Output:
	// definition.group_pattern = "prod("
	// nightly-export exists, version known: true
	// nightly-export is not at version 999
	// no such definition: biling
	// no such permit: 17
	// true NO_SUCH_PERMIT
}

// If a release did not reach a server, release again before retrying the acquisition.
func ExamplePermit_Release_serverUnavailable() {
	srv := gktest.NewServer("nightly-export")
	ctx := context.Background()
	c, err := client.Dial(ctx, []string{srv.Endpoint()}, silent())
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	permit, err := c.Semaphore("nightly-export").TryAcquire(ctx)
	if err != nil {
		log.Fatal(err)
	}
	srv.Close()

	shortCtx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	switch err := permit.Release(shortCtx); {
	case errors.Is(err, client.ErrReleasePending):
		fmt.Println("an earlier release is still in progress")
	case errors.Is(err, client.ErrUnavailable):
		fmt.Println("no server responded; held:", permit.Held())
	}
	// Output: no server responded; held: false
}
