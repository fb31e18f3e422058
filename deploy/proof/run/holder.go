package run

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// HolderCommand is the first argument that makes this program run as a client in a separate process. Pass all arguments
// to Holder.
const HolderCommand = "holder"

// Kinds of clients in separate processes.
const (
	holder    = "holder"
	worker    = fault.Worker
	submitter = "submitter"
)

func holderArgs(kind, name, host string, seed uint64, endpoints []string) []string {
	return []string{HolderCommand, "-kind", kind, "-name", name, "-host", host, "-seed", fmt.Sprint(seed), "-endpoints", strings.Join(endpoints, ",")}
}

// Holder runs the client until the context is done. It records its history with package account.
func Holder(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(HolderCommand, flag.ContinueOnError)
	kind := flags.String("kind", holder, "the kind of client: "+holder+", "+worker+" or "+submitter)
	name := flags.String("name", "", "name of the client")
	host := flags.String("host", "", "acquirer name, the same for each restart of this client")
	seed := flags.Uint64("seed", 1, "seed of the run")
	endpoints := flags.String("endpoints", "", "API addresses")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	records := account.Inherited()
	runClient, ok := map[string]func(ctx context.Context, name, host string, opts load.Options) error{
		holder: load.Hold, worker: load.Work, submitter: load.Submit,
	}[*kind]
	if !ok {
		return fmt.Errorf("unknown kind of client %q", *kind)
	}
	return runClient(ctx, *name, *host, load.Options{
		Seed: *seed, World: load.World(*seed), Work: load.WorkWorld(*seed), Endpoints: strings.Split(*endpoints, ","),
		Put: func(e history.Entry) { records.Write(e) },
	})
}
