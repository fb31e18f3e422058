// Command run starts one gatekeeperd with the periodic jobs of the Kubernetes project, prints commands to try, and
// stops the server when run itself is stopped. `make run` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

type options struct {
	bin         string
	data        string
	definitions string
	api         string
	peer        string
	http        string
	admin       string
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "directory that contains gatekeeperd and gkctl")
	flag.StringVar(&o.data, "data", "data/run", "data directory; edits are kept between runs")
	flag.StringVar(&o.definitions, "definitions", "deploy/samples/kubernetes.yaml", "definitions to load")
	flag.StringVar(&o.api, "api", "127.0.0.1:7420", "API address")
	flag.StringVar(&o.peer, "peer", "127.0.0.1:7421", "peer address")
	flag.StringVar(&o.http, "http", "127.0.0.1:7422", "address of the dashboard")
	flag.StringVar(&o.admin, "admin", "127.0.0.1:7423", "admin address")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := o.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

// run runs the server until ctx is done. It returns nil if the server then exits normally.
func (o *options) run(ctx context.Context, out io.Writer) error {
	for _, address := range []string{o.api, o.peer, o.http, o.admin} {
		// The server would also report that the address is in use, but until then, the program using that address might
		// answer our requests.
		l, err := net.Listen("tcp", address)
		if err != nil {
			return fmt.Errorf("%w\nIs another server running? Use different addresses: make run ARGS='-api 127.0.0.1:8420 -peer 127.0.0.1:8421 -http 127.0.0.1:8422 -admin 127.0.0.1:8423 -data data/other'", err)
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return err
	}
	log := filepath.Join(o.data, "log")
	w, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer w.Close()
	cmd := exec.Command(filepath.Join(o.bin, "gatekeeperd"),
		"--data-dir", filepath.Join(o.data, "gk1"),
		"--api-address", o.api, "--peer-address", o.peer, "--http-address", o.http, "--admin-address", o.admin,
		"--definitions", o.definitions)
	// All output goes to the log. Errors at startup are also shown to the user.
	head := &outputHead{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = w, io.MultiWriter(w, head)
	// The server runs in a separate process group, so that Ctrl-C reaches only this program, which then stops the
	// server.
	servers.DieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	type loaded struct {
		definitions uint32
		err         error
	}
	ready := make(chan loaded, 1)
	waitCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	go func() {
		n, err := awaitServing(waitCtx, o.api)
		ready <- loaded{n, err}
	}()
	select {
	case err := <-done:
		return fmt.Errorf("gatekeeperd did not start: %w\n%s", err, head)
	case l := <-ready:
		if l.err != nil && ctx.Err() == nil {
			return errors.Join(fmt.Errorf("gatekeeperd is not ready; see %s: %w", log, l.err), stop(cmd, done))
		}
		if l.err == nil {
			fmt.Fprintf(out, intro, o.api, o.data, log, o.gkctl(), l.definitions, o.http)
		}
	}
	select {
	case err := <-done:
		return errors.Join(fmt.Errorf("gatekeeperd exited; see %s", log), err)
	case <-ctx.Done():
	}
	fmt.Fprintln(out, "\nStopping.")
	return stop(cmd, done)
}

// gkctl returns the command that runs gkctl in another terminal.
func (o *options) gkctl() string {
	gkctl := filepath.Join(o.bin, "gkctl")
	if o.api != "127.0.0.1:7420" {
		gkctl = "GK_ENDPOINTS=" + o.api + " " + gkctl
	}
	return gkctl
}

// loadTimeout is how long the server may take to load the definitions after it is ready. There may be none to load,
// because definitions that the user has deleted from this data directory stay deleted.
const loadTimeout = 5 * time.Second

// awaitServing waits until the server is ready and has loaded its definitions, and returns their number.
func awaitServing(ctx context.Context, address string) (definitions uint32, err error) {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var servingSince time.Time
	for {
		resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && resp.Status == healthpb.HealthCheckResponse_SERVING {
			if servingSince.IsZero() {
				servingSince = time.Now()
			}
			status, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
			if err == nil && (status.Definitions > 0 || time.Since(servingSince) > loadTimeout) {
				return status.Definitions, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, errors.Join(ctx.Err(), err)
		}
	}
}

// stop terminates the server and waits for it to exit.
func stop(cmd *exec.Cmd, done <-chan error) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		return errors.Join(errors.New("gatekeeperd did not exit within 20 s of SIGTERM"), cmd.Process.Kill())
	}
}

// outputHead keeps the beginning of the output.
type outputHead struct {
	limit int
	text  []byte
}

func (f *outputHead) Write(p []byte) (int, error) {
	f.text = append(f.text, p[:min(len(p), f.limit-len(f.text))]...)
	return len(p), nil
}

func (f *outputHead) String() string { return string(f.text) }

const intro = `Gatekeeper is listening on %[1]s with %[5]d definitions: the periodic jobs of the Kubernetes project, and a pool for
each of the build clusters they run in. The data is in %[2]s, and the log is in %[3]s. Press Ctrl-C to stop the server.

Dashboard: http://%[6]s

In another terminal:

  %[4]s get                                          # every definition
  %[4]s get 'pool/*'                                 # the pools
  %[4]s get -l dashboard=sig-etcd-periodics          # by label
  %[4]s get ci-etcd-e2e-amd64 -o yaml                # a complete definition
  %[4]s explain ci-etcd-e2e-amd64 --group elsewhere  # why another group is denied
  %[4]s acquire pool/k8s-infra-aks-prow-build --group k8s-infra-aks-prow-build
  %[4]s holders                                      # who holds what
  %[4]s cluster status
`
