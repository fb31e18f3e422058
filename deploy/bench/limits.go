package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// measureEcho measures grpc-go's unary echo for each number of callers.
func (b *bench) measureEcho(ctx context.Context) ([]load.Figure, error) {
	echo, err := load.StartEcho(ctx, "-echo")
	if err != nil {
		return nil, err
	}
	defer echo.Close()
	return b.each(ctx, echo.Call)
}

// measureSync measures sequential appends with fdatasync, on the disk that holds the data directories.
func (b *bench) measureSync(ctx context.Context) (load.Figure, error) {
	appendOnce, f, err := b.appender("sync")
	if err != nil {
		return load.Figure{}, err
	}
	defer f.Close()
	w := b.windows
	w.warmUp = 100 * time.Millisecond
	return w.loop(ctx, 1, func(context.Context, int) (int, error) { return 1, appendOnce() })
}

// appender returns a function that appends a small record to a file next to the data directories and syncs the file.
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
