// Package samples creates definitions for a real schedule: the 1,335 periodic jobs of the Kubernetes project in seven
// build clusters, as recorded in kubernetes-periodics.json.
//
// A build cluster is a group: its jobs run only there. Each job is a semaphore with one permit, so that it never runs
// twice at the same time. It also takes shares from its cluster's pool, a semaphore with more than one permit, so that
// due jobs do not all run at once.
package samples

//go:generate go run ./kubernetes -o kubernetes.yaml

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

//go:embed kubernetes-periodics.json
var kubernetesPeriodics []byte

// Labels on the definitions.
const (
	// LabelKind is "job" or "pool".
	LabelKind = "kind"
	// LabelCluster is the build cluster, which is the group of its hosts.
	LabelCluster = "cluster"
	// LabelDashboard is the dashboard that shows the job's results. It is omitted if the job has no dashboard.
	LabelDashboard = "dashboard"
	// LabelPool is the name of the pool from which the job takes shares.
	LabelPool = "pool"
	// LabelPoolWeight is the number of shares the job takes.
	LabelPoolWeight = "pool-weight"
)

// Duration is the duration of every permit. It only determines how long a dead host keeps its slot.
const Duration = time.Minute

// Job is one job in the schedule. Exactly one of Interval and Cron is set.
type Job struct {
	Name           string `json:"name"`
	Cluster        string `json:"cluster"`
	Interval       string `json:"interval,omitempty"`
	Cron           string `json:"cron,omitempty"`
	Timeout        string `json:"timeout,omitempty"`
	MaxConcurrency int    `json:"max_concurrency,omitempty"`
	Dashboard      string `json:"dashboard,omitempty"`
}

// Kubernetes returns the periodic jobs of the Kubernetes project, sorted by name.
func Kubernetes() ([]Job, error) {
	var jobs []Job
	if err := json.Unmarshal(kubernetesPeriodics, &jobs); err != nil {
		return nil, fmt.Errorf("kubernetes-periodics.json: %w", err)
	}
	sort.Slice(jobs, func(i, j int) bool { return jobs[i].Name < jobs[j].Name })
	return jobs, nil
}

// InCluster returns the jobs of a build cluster, sorted by name.
func InCluster(cluster string) ([]Job, error) {
	jobs, err := Kubernetes()
	if err != nil {
		return nil, err
	}
	jobs = slices.DeleteFunc(jobs, func(j Job) bool { return j.Cluster != cluster })
	if len(jobs) == 0 {
		return nil, fmt.Errorf("unknown build cluster %q", cluster)
	}
	return jobs, nil
}

// Pool returns the name of a cluster's pool.
func Pool(cluster string) string { return "pool/" + cluster }

// PoolWeight returns the number of shares that a job takes from its pool. Jobs with longer timeouts take more: 1 share
// for up to one hour or without a timeout, 2 for up to four hours, and 4 above that.
func (j Job) PoolWeight() (uint32, error) {
	timeout, err := duration(j.Name, "timeout", j.Timeout)
	switch {
	case err != nil:
		return 0, err
	case timeout <= time.Hour:
		return 1, nil
	case timeout <= 4*time.Hour:
		return 2, nil
	default:
		return 4, nil
	}
}

// PoolPermits returns the pool size for a cluster with the given number of jobs: one share per eight jobs, but at least
// 4, so that the heaviest job fits, and at most 40.
func PoolPermits(jobs int) uint32 {
	return uint32(min(max((jobs+7)/8, 4), 40)) //nolint:gosec // between 4 and 40
}

// Definitions returns a definition for each job and for each cluster's pool, sorted by name.
func Definitions(jobs []Job) ([]*gatekeeperv1.Definition, error) {
	var defs []*gatekeeperv1.Definition
	clusters := map[string]int{}
	for _, job := range jobs {
		def, err := job.definition()
		if err != nil {
			return nil, err
		}
		defs = append(defs, def)
		clusters[job.Cluster]++
	}
	for cluster, n := range clusters {
		defs = append(defs, pool(cluster, n))
	}
	sort.Slice(defs, func(i, j int) bool { return defs[i].Name < defs[j].Name })
	return defs, nil
}

// KubernetesDefinitions returns the definitions for all jobs of the Kubernetes project.
func KubernetesDefinitions() ([]*gatekeeperv1.Definition, error) {
	jobs, err := Kubernetes()
	if err != nil {
		return nil, err
	}
	return Definitions(jobs)
}

func (j Job) definition() (*gatekeeperv1.Definition, error) {
	timeout, err := duration(j.Name, "timeout", j.Timeout)
	if err != nil {
		return nil, err
	}
	interval, err := duration(j.Name, "interval", j.Interval)
	if err != nil {
		return nil, err
	}
	weight, err := j.PoolWeight()
	if err != nil {
		return nil, err
	}
	def := base(j.Name, j.Cluster, 1)
	def.Labels[LabelKind] = "job"
	def.Labels[LabelPool] = Pool(j.Cluster)
	def.Labels[LabelPoolWeight] = strconv.Itoa(int(weight))
	if j.Dashboard != "" {
		def.Labels[LabelDashboard] = j.Dashboard
	}
	if timeout > 0 {
		def.MaxHold = durationpb.New(timeout)
	}
	switch {
	case interval > 0:
		def.Description = "Runs every " + j.Interval + "."
		// Only jobs with an interval set this, because days may pass between two runs of a cron job.
		def.ExpectEvery = durationpb.New(interval)
	case j.Cron != "":
		def.Description = fmt.Sprintf("Runs at %q, UTC.", j.Cron)
	default:
		return nil, fmt.Errorf("job %s has neither an interval nor a cron expression", j.Name)
	}
	return def, nil
}

func pool(cluster string, jobs int) *gatekeeperv1.Definition {
	def := base(Pool(cluster), cluster, PoolPermits(jobs))
	def.Labels[LabelKind] = "pool"
	def.Description = fmt.Sprintf("Limits how many jobs run at the same time in %s, which has %d jobs.", cluster, jobs)
	return def
}

func base(name, cluster string, permits uint32) *gatekeeperv1.Definition {
	pattern := regexp.QuoteMeta(cluster)
	return &gatekeeperv1.Definition{
		Name:         name,
		Labels:       map[string]string{LabelCluster: cluster},
		GroupPattern: &pattern,
		Permits:      &permits,
		Duration:     durationpb.New(Duration),
	}
}

// duration parses one of a job's optional durations.
func duration(job, field, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("job %s: %s is %q, want a positive duration such as 90m", job, field, text)
	}
	return d, nil
}
