package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/demotest"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

var bin string

// TestMain is also the main function of the clients, which are instances of the test binary.
func TestMain(m *testing.M) {
	os.Exit(demotest.Main(m, &bin, run.HolderCommand, run.Holder))
}

// repeat is the number of runs per kind, with consecutive seeds. The test stops at the first run that violates a
// guarantee. It may take more than one run to trigger a mutant's bug.
var repeat = flag.Uint64("repeat", 1, "number of runs of each kind")

// This is a short version of `make faults`. A failure can be reproduced with its kind and seed.
func TestRuns_Short_ViolateNoGuarantee(t *testing.T) {
	if err := servers.BuildFaulty(filepath.Join(bin, "faulty")); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"stop-leader", "isolate", "slow-disk", "disk-error", "misdirected", "client-stopped", "clock-steps", "mixed"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel() // runs spend most of their time waiting
			for seed := uint64(3); seed < 3+*repeat; seed++ {
				shortRun(t, kind, seed)
			}
		})
	}
}

// shortRun performs one short run.
func shortRun(t *testing.T, kind string, seed uint64) {
	keep := t.TempDir()
	tally := filepath.Join(keep, "tally.tsv")
	var out strings.Builder
	err := command(t.Context(), []string{"-bin", bin, "-kind", kind, "-seed", fmt.Sprint(seed), "-for", "3s", "-keep", keep, "-keep-all",
		"-tally", tally, "-commit", "test"}, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Log(out.String())
	if strings.Contains(out.String(), " 0 by re-acquisition") {
		t.Errorf("no identity reacquired a permit: %s", &out)
	}
	for _, what := range []string{"jobs", "executions", "results", "visits", "takeovers", fault.KilledAtTask} {
		if strings.Contains(out.String(), " 0 "+what) {
			t.Errorf("no %s in the shared work: %s", what, &out)
		}
	}
	for _, end := range []string{"failed", "cut-short", "taken-over", "handed-over", "awaited"} {
		if strings.Contains(out.String(), " 0 "+end) {
			t.Errorf("no firing was %s: %s", end, &out)
		}
	}
	text, err := os.ReadFile(tally)
	if err != nil || !strings.HasPrefix(string(text), fmt.Sprintf("%stest\t%d\t%s\t3\t", columns, seed, kind)) {
		t.Errorf("got tally %q, %v; want a header and the run's line", text, err)
	}
	if text, err := sum(tally); err != nil || !strings.HasPrefix(text, "test to test: 1 runs (1 ") || !strings.HasSuffix(text, "0 violations, 0 undecided\n") {
		t.Errorf("sum() = %q, %v, want 1 run without violations", text, err)
	}
	var checkOut strings.Builder
	if err := command(t.Context(), []string{"-check", filepath.Join(keep, fmt.Sprintf("%s-%d.jsonl", kind, seed))}, &checkOut); err != nil {
		t.Errorf("check of the saved history: %v\n%s", err, &checkOut)
	}
}

// Lines written by older versions have fewer columns.
func TestSum_LinesWithoutSharedWork_AreCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tally.tsv")
	old := "a\t1\tisolate\t12\t10\t2\t3\t1\t2 isolate\t0\t0\tproxies\n"
	recent := "b\t2\tisolate\t12\t10\t2\t3\t1\t1 isolate\t0\t0\tproxies\t4 jobs, 1 worker-killed\n"
	if err := os.WriteFile(file, []byte(columns+old+recent), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := sum(file)
	want := "a to b: 2 runs (2 proxies), 20 operations (4 unanswered), 6 grants\nshared work: 4 jobs, 1 worker-killed\n3 faults: 3 isolate\n0 violations, 0 undecided\n"
	if err != nil || text != want {
		t.Errorf("sum() = %q, %v, want %q", text, err, want)
	}
}

// Release builds do not contain the code for faulty disks.
func TestRelease_OmitsFaultyDiskCode(t *testing.T) {
	if err := servers.BuildFaulty(filepath.Join(bin, "faulty")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{"gatekeeperd": false, "faulty/gatekeeperd": true} {
		code, err := os.ReadFile(filepath.Join(bin, file))
		if err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(code, []byte("FAULTY_DISK")); has != want {
			t.Errorf("%s contains code for faulty disks = %t, want %t", file, has, want)
		}
	}
}

func TestCommand_UnknownNetwork_ListsKnownNetworks(t *testing.T) {
	err := command(t.Context(), []string{"-bin", bin, "-network", "tincans", "-keep", t.TempDir()}, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "tincans") || !strings.Contains(err.Error(), "namespaces") {
		t.Errorf("command() = %v, want an error that lists the networks", err)
	}
}

// A run of an unsupported kind is skipped with a message.
func TestCommand_UnsupportedKind_IsSkipped(t *testing.T) {
	var out strings.Builder
	err := command(t.Context(), []string{"-bin", bin, "-kind", "narrow", "-network", "proxies", "-keep", t.TempDir()}, &out)
	if err != nil || !strings.Contains(out.String(), "skipped: this kind of fault is not supported here: narrow with proxies") {
		t.Errorf("command() = %v, want nil and a message that the run was skipped; output:\n%s", err, &out)
	}
}

func TestCheck_SavedHistoryWithViolation_Fails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "broken.jsonl")
	lines := `{"belief":{"client":"a","semaphore":"s","token":1,"weight":1,"from":5,"until":9}}
{"belief":{"client":"b","semaphore":"s","token":2,"weight":1,"from":8,"until":12}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := command(t.Context(), []string{"-check", file}, &out); err == nil || !strings.Contains(out.String(), "a with token 1 (weight 1) and b with token 2") {
		t.Errorf("command() = %v, want an error and a violation; output:\n%s", err, &out)
	}
}

func TestCommand_UnknownKind_IsNamedInError(t *testing.T) {
	err := command(t.Context(), []string{"-bin", bin, "-kind", "meteor", "-keep", t.TempDir()}, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "meteor") {
		t.Errorf("command() = %v, want an error that names the unknown kind", err)
	}
}
