// Command bench measures the core: denials, refreshes, and pairs of acquire and release, on one and on three servers that run as
// processes of their own on this machine, beside two limits measured in the same run: grpc-go's unary echo and append with
// fdatasync. Only ratios taken in one run mean anything; absolute figures drift from run to run and machine to machine.
//
// It also holds the servers to two promises by their own counters: denials and refreshes write no log entry, and acquires that come
// together share entries. A failed call or a broken promise fails the run.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type bench struct {
	bin     string
	dir     string
	callers []int
	windows windows
}

// report is everything that one run measured.
type report struct {
	Go       string   `json:"go"`
	CPUs     int      `json:"cpus"`
	Echo     []figure `json:"echo"`
	Sync     figure   `json:"append_fdatasync"`
	Clusters []*core  `json:"clusters"`
}

func main() {
	var b bench
	echo := flag.Bool("echo", false, "serve the echo; for the bench's own use")
	flag.StringVar(&b.bin, "bin", "bin", "folder of gatekeeperd")
	sizes := flag.String("servers", "1,3", "sizes of the clusters to measure")
	callers := flag.String("callers", "1,16,64,256", "how many callers call at once")
	flag.DurationVar(&b.windows.warmUp, "warm-up", 500*time.Millisecond, "what is run before each measurement and not counted")
	flag.DurationVar(&b.windows.window, "window", time.Second, "length of a window")
	flag.IntVar(&b.windows.count, "windows", 3, "how many windows; the median counts")
	file := flag.String("json", "bin/bench.json", "file for the figures; empty for none")
	flag.Parse()
	if *echo {
		exit(serveEcho())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(b.run(ctx, os.Stdout, *sizes, *callers, *file))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(ctx context.Context, out io.Writer, sizes, callers, file string) error {
	counts, err := numbers("-servers", sizes)
	if err != nil {
		return err
	}
	if b.callers, err = numbers("-callers", callers); err != nil {
		return err
	}
	if b.windows.count < 1 || b.windows.window <= 0 {
		return fmt.Errorf("-windows %d and -window %v must be above 0", b.windows.count, b.windows.window)
	}
	// Beside the binaries, so that it is a disk: temporary folders often are memory.
	if b.dir, err = os.MkdirTemp(b.bin, "bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)

	r := report{Go: runtime.Version(), CPUs: runtime.NumCPU()}
	if r.Echo, err = b.measureEcho(ctx); err != nil {
		return fmt.Errorf("echo: %w", err)
	}
	if r.Sync, err = b.measureSync(ctx); err != nil {
		return fmt.Errorf("append and fdatasync: %w", err)
	}
	for _, count := range counts {
		c, err := b.measureCore(ctx, count)
		if err != nil {
			return fmt.Errorf("cluster of %d: %w", count, err)
		}
		r.Clusters = append(r.Clusters, c)
	}
	r.print(out)
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// each measures the same call at each number of callers.
func (b *bench) each(ctx context.Context, call func(ctx context.Context, caller int) (int, error)) ([]figure, error) {
	var figures []figure
	for _, callers := range b.callers {
		f, err := b.windows.loop(ctx, callers, call)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// most is the highest number of callers.
func (b *bench) most() int { return slices.Max(b.callers) }

func numbers(flag, list string) ([]int, error) {
	var all []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 10_000 {
			return nil, fmt.Errorf("%s %q must be numbers from 1 to 10000 with commas between", flag, list)
		}
		all = append(all, n)
	}
	return all, nil
}
