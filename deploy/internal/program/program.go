// Package program runs the main functions of the programs in deploy.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs command with the program's arguments, in a context that SIGINT or SIGTERM cancels. If command fails, Main
// prints the error, prefixed with the program's name, and exits with code 1. flag.ErrHelp is not an error.
func Main(name string, command func(ctx context.Context, args []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// SaveJSON writes a report to a file. It does nothing if file is empty.
func SaveJSON(file string, report any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
