// Command kubernetes writes the definitions file for the periodic jobs of the Kubernetes project. `make generate` runs
// it.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

func main() {
	out := flag.String("o", "kubernetes.yaml", "file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "kubernetes:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	defs, err := samples.KubernetesDefinitions()
	if err != nil {
		return err
	}
	text, err := deffile.Marshal(defs)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}
