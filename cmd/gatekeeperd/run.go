package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

const serverLong = `gatekeeperd is the Gatekeeper server. Gatekeeper makes sure that a scheduled job runs on one host at a time.

Without flags, it runs as a single durable server on loopback. To start a cluster of three, pass the same --members to each; they start serving once all
three are running:

  gatekeeperd --id gk1 --members gk1=10.0.0.1:7421,gk2=10.0.0.2:7421,gk3=10.0.0.3:7421 --api-address 10.0.0.1:7420

Another server joins with --join. Once a data directory belongs to a cluster, --members and --join are ignored. To recover a cluster that has
permanently lost its majority, use gatekeeperd recover; to restore a backup, gatekeeperd restore.

Each flag is also an environment variable (--api-address is GATEKEEPER_API_ADDRESS) and a key in the --config file (api-address). Flags take precedence over
variables, variables over the file, and the file over defaults.`

// gcPercent replaces Go's default of 100, at which a busy leader with few permits spends a fifth of its CPU time on
// garbage collection. GOGC takes precedence.
const gcPercent = 200

// run runs the command given by args and returns its exit code. A server runs until ctx ends or a fault stops it.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	cmd := command(environment{variables: env, root: os.Geteuid() == 0}, stderr)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	code := exitCode(err)
	if code != exitStopped {
		fmt.Fprintln(stderr, "gatekeeperd:", err)
	}
	if code == exitUsage {
		fmt.Fprintln(stderr, ran.CommandPath(), "--help lists all flags and exit codes.")
	}
	return code
}

func command(env environment, stderr io.Writer) *cobra.Command {
	var o options
	var check bool
	flags := o.flags(env)
	cmd := &cobra.Command{
		Use:           "gatekeeperd [flags]",
		Short:         "The Gatekeeper server",
		Long:          serverLong,
		Version:       gatekeeper.Version(),
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(flags, env); err != nil {
				return err
			}
			if check {
				return o.check(cmd.OutOrStdout(), stderr)
			}
			return o.serve(cmd.Context(), stderr)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(flags)
	cmd.Flags().BoolVar(&check, "check-config", false, "check whether the configuration and its files are usable, then exit; cannot be set by an environment variable or in the configuration file")
	cmd.SetFlagErrorFunc(flagError)
	cmd.SetVersionTemplate("gatekeeperd {{.Version}}\n")
	cmd.SetHelpTemplate("{{.Long}}\n\n{{.UsageString}}\n" + exitCodes + "\n")
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(newRecover(env), newRestore(env), newBindAdmin(env), newConvert())
	return cmd
}

// noArguments rejects arguments. An argument to the server itself is probably a mistyped command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var commands []string
	for _, c := range cmd.Commands() {
		commands = append(commands, c.Name())
	}
	if suggestion := nearest.Word(args[0], commands); suggestion != "" {
		return usage("unknown command %q; did you mean %s?", args[0], suggestion)
	}
	return usage("unexpected argument %q: use flags", args[0])
}

// flagError suggests the most similar flag if the flag is unknown.
func flagError(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || e.GetSpecifiedShortnames() != "" {
		return &usageError{err}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if suggestion := nearest.Word(e.GetSpecifiedName(), known); suggestion != "" {
		return usage("%w; did you mean --%s?", err, suggestion)
	}
	return &usageError{err}
}

// check reports whether a server with these options would start. It does not check the data directory, the ports or
// other servers.
func (o *options) check(stdout, stderr io.Writer) error {
	log, err := o.logger(stderr)
	if err != nil {
		return err
	}
	cfg, definitions, err := o.configure()
	if err != nil {
		return err
	}
	cfg.Logger = log
	if err := cfg.Check(); err != nil {
		return explain(err, definitions)
	}
	_, err = fmt.Fprintln(stdout, "The configuration is valid. No server was started.")
	return err
}

// serve runs the server until ctx ends or a fault stops the server.
func (o *options) serve(ctx context.Context, stderr io.Writer) error {
	log, err := o.logger(stderr)
	if err != nil {
		return err
	}
	cfg, definitions, err := o.configure()
	if err != nil {
		return err
	}
	cfg.Logger = log
	server, err := gatekeeper.Open(ctx, cfg)
	if err != nil {
		return explain(err, definitions)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	go func() {
		if server.Ready(serving) == nil {
			debug.FreeOSMemory() // frees the memory used to read the snapshot, which an idle server would otherwise keep for a long time
		}
	}()
	select {
	case <-ctx.Done():
		log.Info("stopping; a second signal ends the process immediately", slog.String("timeout", o.shutdownTimeout.String()))
	case <-server.Done():
	}
	o.close(context.WithoutCancel(ctx), server, log)
	return server.Err()
}

// closeGrace is how long closing may exceed --shutdown-timeout before the process exits anyway.
const closeGrace = 10 * time.Second

// close stops the server, gracefully if possible. It always returns, because a supervisor needs the process to end.
// Calls still in flight then have an unknown outcome, as they would after a crash.
func (o *options) close(ctx context.Context, server *gatekeeper.Server, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, o.shutdownTimeout)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- server.Close(ctx) }()
	select {
	case err := <-closed:
		if err != nil {
			log.Warn("did not stop gracefully", slog.Any("error", err))
		}
	case <-time.After(o.shutdownTimeout + closeGrace):
		log.Error("could not stop the server, exiting anyway")
	}
}
