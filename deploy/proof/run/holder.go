package run

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// HolderCommand is the first argument with which this program is a client in a process of its own; Holder is given all arguments.
const HolderCommand = "holder"

func holderArgs(name, host string, seed uint64, endpoints []string) []string {
	return []string{HolderCommand, "-name", name, "-host", host, "-seed", fmt.Sprint(seed), "-endpoints", strings.Join(endpoints, ",")}
}

// Holder is that client, until the context ends. It writes its history as an account.
func Holder(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(HolderCommand, flag.ContinueOnError)
	name := flags.String("name", "", "its name")
	host := flags.String("host", "", "its acquirer, which those before it had too")
	seed := flags.Uint64("seed", 1, "of the run")
	endpoints := flags.String("endpoints", "", "API addresses")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	told := account.Inherited()
	return load.Hold(ctx, *name, *host, load.Options{
		Seed: *seed, World: load.World(*seed), Endpoints: strings.Split(*endpoints, ","), Put: func(e history.Entry) { told.Write(e) },
	})
}
