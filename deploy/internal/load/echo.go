package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// echoMethod is a unary method that returns its argument. It is used to measure the cost of gRPC alone on this machine.
const echoMethod = "/bench.Echo/Echo"

// ServeEcho runs the echo server on a free port and prints its address. The server runs until standard input is closed.
// It runs in a separate process, like the servers that it is compared with.
func ServeEcho() error {
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

// Echo is an echo server in a separate process.
type Echo struct {
	cmd   *exec.Cmd
	in    io.Closer
	conns Conns
}

// StartEcho starts another instance of this program with args, which must make it call ServeEcho. The process is killed
// when ctx is done.
func StartEcho(ctx context.Context, args ...string) (*Echo, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	e := &Echo{cmd: exec.CommandContext(ctx, self, args...)}
	e.cmd.Stderr = os.Stderr
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		e.conns, err = Dial(strings.TrimSpace(address))
	}
	if err != nil {
		e.Close()
		return nil, fmt.Errorf("the echo server did not start: %w", err)
	}
	return e, nil
}

// Call makes one echo call, about the size of a TryAcquire call.
func (e *Echo) Call(ctx context.Context, caller int) (int, error) {
	payload := &wrapperspb.BytesValue{Value: make([]byte, 100)}
	return 1, e.conns.ForCaller(caller).Invoke(ctx, echoMethod, payload, &wrapperspb.BytesValue{})
}

// PID returns the id of the process.
func (e *Echo) PID() int { return e.cmd.Process.Pid }

// Close stops the process.
func (e *Echo) Close() {
	e.conns.Close()
	_ = e.in.Close()
	_ = e.cmd.Wait()
}
