package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gatekeeperd": main})
}

// TestScripts runs the scripts in testdata/script with the real command. Each script has free addresses in $API, $PEER
// and $ADMIN, an address in use in $TAKEN, this package's testdata directory in $TESTDATA, and these commands:
//
//	exits CODE program args...   runs the program and checks its exit code
//	serving ADDRESS              waits until a server listens on the address
//	answers ADDRESS              waits until the server at the address responds to calls
//	terminate                    sends SIGTERM to the background programs
//	insist                       sends SIGTERM to the background programs repeatedly until they exit
//	linger ADDRESS               opens a stream to the API at the address and keeps it open until the script ends
//	written FILE TEXT            waits until the file contains the text
//	damage flip FILE TEXT        flips a bit in each occurrence of the text in the file
//	damage zero FILE TEXT        fills each page of the file that contains the text with zeros
//	damage cut FILE PERCENT      truncates the file to this percentage of its size
func TestScripts(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"serving":   serving,
			"answers":   answers,
			"terminate": terminate,
			"insist":    insist,
			"linger":    linger,
			"written":   written,
			"damage":    damage,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("TAKEN", taken.Addr().String())
			env.Setenv("TESTDATA", testdata)
			env.Setenv("GATEKEEPER_HTTP_ADDRESS", "127.0.0.1:0")
			addresses, err := ports.Free(3)
			if err != nil {
				return err
			}
			env.Setenv("API", addresses[0])
			env.Setenv("PEER", addresses[1])
			env.Setenv("ADMIN", addresses[2])
			return nil
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args...")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != code {
		ts.Fatalf("%s exited with %d, want %d", args[1], got, code)
	}
}

// waitTimeout is how long a script waits for an expected event.
const waitTimeout = 30 * time.Second

func serving(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serving ADDRESS")
	}
	deadline := time.After(waitTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", args[0])
		if err == nil {
			ts.Check(conn.Close())
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("timed out waiting for a server on %s: %s", args[0], fmt.Sprint(err))
		case <-tick.C:
		}
	}
}

// answers waits until the server responds to calls. By then it has opened all of its files.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers ADDRESS")
	}
	conn, err := grpc.NewClient(args[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	ts.Check(err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	_, err = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.WaitForReady(true))
	ts.Check(err)
}

func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

func insist(ts *testscript.TestScript, _ bool, _ []string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, cmd := range ts.BackgroundCmds() {
		for cmd.Process.Signal(syscall.SIGTERM) == nil {
			<-tick.C
		}
	}
}

func linger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: linger ADDRESS")
	}
	conn, err := grpc.NewClient(args[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	ts.Check(err)
	ts.Defer(func() { _ = conn.Close() })
	stream, err := reflectionpb.NewServerReflectionClient(conn).ServerReflectionInfo(context.Background())
	ts.Check(err)
	ts.Check(stream.Send(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}))
	_, err = stream.Recv()
	ts.Check(err)
}

func written(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: written FILE TEXT")
	}
	deadline := time.After(waitTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if !errors.Is(err, fs.ErrNotExist) {
			ts.Check(err)
		}
		if bytes.Contains(data, []byte(args[1])) {
			return
		}
		select {
		case <-deadline:
			ts.Fatalf("timed out waiting for %q in %s", args[1], args[0])
		case <-tick.C:
		}
	}
}

func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: damage flip|zero|cut FILE TEXT|PERCENT")
	}
	path := ts.MkAbs(args[1])
	data, err := os.ReadFile(path)
	ts.Check(err)
	size, hits := os.Getpagesize(), 0
	if args[0] == "cut" {
		parts, err := strconv.Atoi(args[2])
		ts.Check(err)
		data, hits = data[:len(data)*parts/100], 1
	}
	for at := 0; args[0] != "cut"; hits++ {
		next := bytes.Index(data[at:], []byte(args[2]))
		if next < 0 {
			break
		}
		at += next
		if args[0] == "flip" {
			data[at] ^= 1
		} else {
			at -= at % size
			clear(data[at:min(at+size, len(data))])
		}
	}
	if hits == 0 {
		ts.Fatalf("%q not found in %s", args[2], args[1])
	}
	ts.Check(os.WriteFile(path, data, 0o600))
}
