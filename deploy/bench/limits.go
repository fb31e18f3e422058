package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// echoMethod is a unary call that answers with what it was given: what gRPC itself costs on this machine.
const echoMethod = "/bench.Echo/Echo"

// serveEcho serves the echo on a free port, which it prints, until its standard input ends. It runs as a process of its own, as the
// servers that it is compared with do.
func serveEcho() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := &wrapperspb.BytesValue{}
			return in, decode(in)
		}}},
	}, struct{}{})
	fmt.Println(l.Addr())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		server.Stop()
	}()
	return server.Serve(l)
}

// measureEcho measures the echo at each number of callers.
func (b *bench) measureEcho(ctx context.Context) ([]figure, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-echo")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the echo did not start: %w", err)
	}
	conns, err := dial(strings.TrimSpace(address))
	if err != nil {
		return nil, err
	}
	defer conns.close()
	payload := &wrapperspb.BytesValue{Value: make([]byte, 100)} // about what a TryAcquire carries
	return b.each(ctx, func(ctx context.Context, caller int) (int, error) {
		return 1, conns.of(caller).Invoke(ctx, echoMethod, payload, &wrapperspb.BytesValue{})
	})
}

// measureSync measures one append and fdatasync after the other, on the disk of the data folders.
func (b *bench) measureSync(ctx context.Context) (figure, error) {
	appendOnce, f, err := b.appender("sync")
	if err != nil {
		return figure{}, err
	}
	defer f.Close()
	w := b.windows
	w.warmUp = 100 * time.Millisecond
	return w.loop(ctx, 1, func(context.Context, int) (int, error) { return 1, appendOnce() })
}

// appender returns what appends a small record to a file of that name, beside the data folders, and syncs it.
func (b *bench) appender(name string) (appendOnce func() error, f *os.File, err error) {
	if f, err = os.Create(filepath.Join(b.dir, name)); err != nil {
		return nil, nil, err
	}
	record := make([]byte, 128)
	return func() error {
		if _, err := f.Write(record); err != nil {
			return err
		}
		return datasync(f)
	}, f, nil
}
