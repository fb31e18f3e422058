package samples_test

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
)

func definitions(t *testing.T) ([]samples.Job, []*gatekeeperv1.Definition) {
	t.Helper()
	jobs, err := samples.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	defs, err := samples.Definitions(jobs)
	if err != nil {
		t.Fatal(err)
	}
	return jobs, defs
}

func TestKubernetes_CommittedFile_IsUpToDate(t *testing.T) {
	_, defs := definitions(t)
	want, err := deffile.Marshal(defs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("kubernetes.yaml is out of date: run make generate")
	}
}

func TestKubernetes_CommittedFile_RoundTrips(t *testing.T) {
	_, defs := definitions(t)
	text, err := os.ReadFile("kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := deffile.Parse("kubernetes.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var read []*gatekeeperv1.Definition
	for _, entry := range file.Entries {
		read = append(read, entry.Definition)
	}
	if diff := cmp.Diff(defs, read, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestKubernetes_EveryDefinition_IsValidAndAdmitsOnlyItsCluster(t *testing.T) {
	jobs, defs := definitions(t)
	clusters := map[string]bool{}
	for _, job := range jobs {
		clusters[job.Cluster] = true
	}
	if len(jobs) != 1335 || len(clusters) != 7 || len(defs) != 1335+7 {
		t.Fatalf("got %d jobs, %d clusters and %d definitions, want 1335, 7 and 1342", len(jobs), len(clusters), len(defs))
	}
	for _, def := range defs {
		rule := storedDefinition(def)
		if err := rule.Validate(semaphore.DefaultMaxDuration); err != nil {
			t.Errorf("%s: Validate() = %v", def.Name, err)
			continue
		}
		patterns, err := semaphore.CompilePatterns(rule.GroupPattern, rule.AcquirerPattern)
		if err != nil {
			t.Errorf("%s: CompilePatterns() = %v", def.Name, err)
			continue
		}
		for cluster := range clusters {
			group, acquirer := patterns.Match(cluster, "host-1")
			if want := cluster == def.Labels[samples.LabelCluster]; group != want || !acquirer {
				t.Errorf("%s admits %s = %t, want %t", def.Name, cluster, group && acquirer, want)
			}
		}
	}
}

func TestKubernetes_EveryJob_FitsItsPool(t *testing.T) {
	_, defs := definitions(t)
	permits := map[string]uint32{}
	for _, def := range defs {
		permits[def.Name] = def.GetPermits()
	}
	for _, def := range defs {
		if def.Labels[samples.LabelKind] != "job" {
			continue
		}
		weight, err := strconv.ParseUint(def.Labels[samples.LabelPoolWeight], 10, 32)
		if err != nil || weight == 0 || uint32(weight) > permits[def.Labels[samples.LabelPool]] {
			t.Errorf("%s: weight %q does not fit pool %s with %d permits (%v)", def.Name, def.Labels[samples.LabelPoolWeight],
				def.Labels[samples.LabelPool], permits[def.Labels[samples.LabelPool]], err)
		}
	}
}

func TestDefinitions_InvalidJobs_Fail(t *testing.T) {
	for _, job := range []samples.Job{
		{Name: "a", Cluster: "c"},
		{Name: "a", Cluster: "c", Interval: "daily"},
		{Name: "a", Cluster: "c", Interval: "-1h"},
		{Name: "a", Cluster: "c", Interval: "1h", Timeout: "long"},
	} {
		if _, err := samples.Definitions([]samples.Job{job}); err == nil {
			t.Errorf("Definitions(%+v) succeeded, want an error", job)
		}
	}
}

// storedDefinition returns d as a server stores it, with all defaults filled in.
func storedDefinition(d *gatekeeperv1.Definition) *semaphore.Definition {
	or := func(d, fallback time.Duration) time.Duration {
		if d == 0 {
			return fallback
		}
		return d
	}
	return &semaphore.Definition{
		Name:            d.Name,
		Description:     d.Description,
		Labels:          semaphore.LabelsOf(d.Labels),
		GroupPattern:    d.GetGroupPattern(),
		AcquirerPattern: semaphore.DefaultPattern,
		Permits:         d.GetPermits(),
		Duration:        d.GetDuration().AsDuration(),
		MaxHold:         d.GetMaxHold().AsDuration(),
		OnExpiry:        semaphore.OnExpiryFree,
		FiringOnLoss:    semaphore.FiringSpent,
		ExpectEvery:     d.GetExpectEvery().AsDuration(),
		FiringRetention: or(d.GetFiringRetention().AsDuration(), semaphore.DefaultFiringRetention),
		FiringLimit:     semaphore.DefaultFiringLimit,
	}
}
