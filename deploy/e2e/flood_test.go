package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// flood is a process whose callers do not back off: they retry immediately, regardless of the response.
type flood struct {
	Endpoints   []string
	Connections int // total number of connections
	Callers     int // total number of concurrent callers, each with its own identity
	Semaphore   string
}

// floodEnv is the environment variable that makes the test binary run as a flood until its stdin is closed.
const floodEnv = "GATEKEEPER_E2E_FLOOD"

// floodResult counts the calls by outcome.
type floodResult struct {
	Succeeded int
	Refused   int // RESOURCE_EXHAUSTED, with RetryInfo and a reason
	Unclear   int // RESOURCE_EXHAUSTED without RetryInfo or without a reason
	Other     map[string]int
}

// runFlood runs the flood described by the JSON text, and prints the result.
func runFlood(text string) error {
	var f flood
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var clients []gatekeeperv1.PermitServiceClient
	for i := range f.Connections {
		conn, err := grpc.NewClient("passthrough:///"+f.Endpoints[i%len(f.Endpoints)], grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDisableRetry())
		if err != nil {
			return err
		}
		defer conn.Close()
		clients = append(clients, gatekeeperv1.NewPermitServiceClient(conn))
	}
	var mu sync.Mutex // guards all
	all := floodResult{Other: map[string]int{}}
	var wg sync.WaitGroup
	for i := range f.Callers {
		wg.Go(func() {
			r := floodResult{Other: map[string]int{}}
			for ctx.Err() == nil {
				attempt, cancel := context.WithTimeout(ctx, 20*time.Second)
				_, err := clients[i%len(clients)].TryAcquire(attempt, &gatekeeperv1.TryAcquireRequest{
					Semaphore: f.Semaphore, Identity: &gatekeeperv1.Identity{Group: "e2e", Acquirer: fmt.Sprint("flood-", i)},
				})
				cancel()
				if ctx.Err() == nil {
					r.count(err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all.Succeeded += r.Succeeded
			all.Refused += r.Refused
			all.Unclear += r.Unclear
			for text, n := range r.Other {
				all.Other[text] += n
			}
		})
	}
	wg.Wait()
	return json.NewEncoder(os.Stdout).Encode(all)
}

func (r *floodResult) count(err error) {
	s := status.Convert(err)
	switch s.Code() {
	case codes.OK:
		r.Succeeded++
	case codes.ResourceExhausted:
		var reason string
		var after time.Duration
		for _, d := range s.Details() {
			switch d := d.(type) {
			case *errdetails.ErrorInfo:
				reason = d.GetReason()
			case *errdetails.RetryInfo:
				after = d.GetRetryDelay().AsDuration()
			}
		}
		if reason == "" || after <= 0 {
			r.Unclear++
			return
		}
		r.Refused++
	default:
		r.Other[s.Code().String()]++
	}
}

// start starts the process. end stops it and returns its result. end may be called only once.
func (f flood) start(ctx context.Context, t *testing.T) (end func() floodResult) {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), floodEnv+"="+string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	servers.DieWithParent(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() floodResult {
		t.Helper()
		var r floodResult
		err := errors.Join(in.Close(), json.NewDecoder(out).Decode(&r), cmd.Wait())
		if err != nil {
			t.Fatalf("flood: %v\n%s", err, stderr.String())
		}
		return r
	}
}
