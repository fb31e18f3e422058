package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
)

// constants are the inputs to a capacity estimate. The constants for operations, bytes and CPU are measured by this
// program. The constants for the machine describe existing or planned hardware.
type constants struct {
	// The leader's CPU time, in µs.
	Decision float64 `json:"decision_us"`
	Refresh  float64 `json:"refresh_us"`
	Frame    float64 `json:"frame_token_us"`
	Grant    float64 `json:"grant_release_us"` // on a single server
	Follower float64 `json:"follower_us"`      // the additional time for each follower
	Expiry   float64 `json:"expiry_us"`
	Apply    float64 `json:"apply_us"` // per command, applied sequentially

	PermitBytes     float64 `json:"permit_bytes"`
	DefinitionBytes float64 `json:"definition_bytes"`
	StreamBytes     float64 `json:"stream_bytes"`
	EmptyBytes      float64 `json:"empty_bytes"`
	// Reserve is the ratio of total to used memory at which Go rarely collects garbage.
	Reserve float64 `json:"reserve"`

	// Restart is the startup time per permit, in µs.
	Restart float64 `json:"restart_permit_us"`

	CommandsPerEntry float64 `json:"commands_in_entry"`

	// The hardware.
	Cores  float64 `json:"cores"`
	Memory float64 `json:"memory_gib"`
	Sync   float64 `json:"sync_us"`
	Hop    float64 `json:"round_trip_us"`
	// Use is the fraction of CPU and memory to use in a busy hour.
	Use float64 `json:"use"`
}

// realHardware returns the constants measured by a run of this program at commit 9e241d7, with Apply from a benchmark
// of package fsm. The hardware is a server with sixteen cores and a disk with power-loss protection, in the same zone
// as the other servers.
func realHardware() *constants {
	return &constants{
		Decision: 35, Refresh: 48, Frame: 6.1, Grant: 320, Follower: 0, Expiry: 22, Apply: 6,
		PermitBytes: 740, DefinitionBytes: 1100, StreamBytes: 24000, EmptyBytes: 40e6, Reserve: 1.7, Restart: 5.1, CommandsPerEntry: 256,
		Cores: 16, Memory: 64, Sync: 50, Hop: 200, Use: 0.5,
	}
}

func (c *constants) flags(f *flag.FlagSet) {
	f.Float64Var(&c.Cores, "cores", c.Cores, "with -paper: cores per server")
	f.Float64Var(&c.Memory, "memory", c.Memory, "with -paper: memory per server, in GiB")
	f.Float64Var(&c.Sync, "sync", c.Sync, "with -paper: duration of an fdatasync, in µs")
	f.Float64Var(&c.Hop, "round-trip", c.Hop, "with -paper: round-trip time between servers, in µs")
	f.Float64Var(&c.Use, "use", c.Use, "with -paper: fraction of CPU and memory to use in a busy hour")
}

// command prints the table. Flags take precedence over the file.
func (c *constants) command(flags *flag.FlagSet, file string, out io.Writer) error {
	set := map[string]string{}
	flags.Visit(func(f *flag.Flag) { set[f.Name] = f.Value.String() })
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := c.read(text); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for name, value := range set {
		if err := flags.Set(name, value); err != nil {
			return err
		}
	}
	if err := c.check(); err != nil {
		return err
	}
	c.print(out)
	return nil
}

// election is the time, in seconds, that a server with the default profile takes to elect itself after it starts.
const election = 1.2

// read parses constants in JSON, or takes them from a run's results.
func (c *constants) read(text []byte) error {
	var r report
	if err := json.Unmarshal(text, &r); err == nil && len(r.Stages) > 0 {
		last := r.Stages[len(r.Stages)-1]
		c.Decision, c.Refresh, c.Frame = last.Costs.Decision.CPU, last.Costs.Refresh.CPU, last.Costs.Frame.CPU
		c.Grant, c.Expiry = last.Costs.Grant.CPU, last.Costs.Expiry.CPU
		c.Follower = max((r.Three.Grant.CPU-c.Grant)/2, 0)
		c.PermitBytes, c.DefinitionBytes = r.permitBytes(), r.definitionBytes()
		for _, s := range r.Streams {
			if s.Connections < s.Clients {
				c.StreamBytes = s.Each.InUse
			}
		}
		c.Restart = max(last.Restart.Seconds-election, 0.1) / float64(last.Permits) * 1e6
		c.Reserve = max(last.Filled.Resident/last.Filled.InUse, 1)
		return nil
	}
	return json.Unmarshal(text, c)
}

func (c *constants) check() error {
	for name, value := range map[string]float64{
		"decision_us": c.Decision, "refresh_us": c.Refresh, "frame_token_us": c.Frame, "grant_release_us": c.Grant, "expiry_us": c.Expiry,
		"apply_us": c.Apply, "permit_bytes": c.PermitBytes, "definition_bytes": c.DefinitionBytes, "stream_bytes": c.StreamBytes,
		"reserve": c.Reserve, "restart_permit_us": c.Restart, "commands_in_entry": c.CommandsPerEntry, "cores": c.Cores, "memory_gib": c.Memory, "sync_us": c.Sync, "use": c.Use,
	} {
		if !(value > 0) || math.IsInf(value, 0) {
			return fmt.Errorf("%s must be greater than 0, not %v", name, value)
		}
	}
	if c.Use > 1 || c.Follower < 0 || c.Hop < 0 || c.EmptyBytes < 0 {
		return fmt.Errorf("use %v must be at most 1, and follower_us %v, round_trip_us %v and empty_bytes %v must not be negative", c.Use, c.Follower, c.Hop, c.EmptyBytes)
	}
	return nil
}

// capacity is the capacity of one cluster.
type capacity struct {
	Servers     int
	Permits     float64 // with a tenth as many definitions and a hundredth as many clients
	KeptAlive   float64 // with a duration of one minute, refreshed every 20 s
	Decisions   float64 // per second, like the fields below
	Refreshes   float64
	Grants      float64
	Expiries    float64
	GrantsBound string // the resource that limits grants
}

// refreshEvery is the interval, in seconds, at which a client refreshes a permit with a duration of one minute.
const refreshEvery = 20

// estimate returns the capacity of a cluster with the given number of servers. print writes these formulas below the
// table.
func (c *constants) estimate(servers int) capacity {
	cpu := c.Cores * c.Use * 1e6
	commands := c.CommandsPerEntry * 1e6 / (2*c.Sync + c.Hop)
	applied := c.Use * 1e6 / c.Apply
	k := capacity{
		Servers:   servers,
		Permits:   max(c.Memory*(1<<30)*c.Use/c.Reserve-c.EmptyBytes, 0) / (c.PermitBytes + c.DefinitionBytes/10 + c.StreamBytes/100),
		KeptAlive: cpu * refreshEvery / c.Frame,
		Decisions: cpu / c.Decision,
		Refreshes: cpu / c.Refresh,
		Expiries:  min(cpu/c.Expiry, commands, applied),
	}
	k.Grants, k.GrantsBound = cpu/(c.Grant+c.Follower*float64(servers-1)), "the leader's CPU"
	if n := commands / 2; n < k.Grants {
		k.Grants, k.GrantsBound = n, "disk and network"
	}
	if n := applied / 2; n < k.Grants {
		k.Grants, k.GrantsBound = n, "sequential apply"
	}
	return k
}

// hundredfold is the factor by which the estimate exceeds the size that one cluster is designed for.
const hundredfold = 100

// clusters returns the number of such clusters needed for a hundred times the full size, partitioned by semaphore name.
func (k capacity) clusters() float64 {
	full := 1e6
	return math.Ceil(hundredfold * full / min(k.Permits, k.KeptAlive))
}

// print writes the table and the formulas in Markdown.
func (c *constants) print(out io.Writer) {
	three, five := c.estimate(3), c.estimate(5)
	maxClusters := max(three.clusters(), five.clusters())
	fmt.Fprintf(out, "| %.0f cores, %.0f GiB, fdatasync %.0f µs, round trip %.0f µs, %.0f%% utilization | 3 servers | 5 servers | 100 times the size: %.0f clusters of 3 |\n",
		c.Cores, c.Memory, c.Sync, c.Hop, 100*c.Use, three.clusters())
	fmt.Fprintln(out, "|---|---:|---:|---:|")
	row := func(what string, estimate func(capacity) float64) {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", what, round(estimate(three)), round(estimate(five)), round(three.clusters()*estimate(three)))
	}
	start := func(k capacity, permits float64) string { return round(min(k.Permits, permits) * c.Restart / 1e6) }
	row("permits in memory, with one definition per 10 permits and one client per 100", func(k capacity) float64 { return k.Permits })
	fmt.Fprintf(out, "| seconds a server needs to load them at startup | %s | %s | %s |\n",
		start(three, math.Inf(1)), start(five, math.Inf(1)), start(three, hundredfold*1e6/three.clusters()))
	row("1-minute permits kept alive, 100 per frame, without other load", func(k capacity) float64 { return k.KeptAlive })
	row("denials per second, without other load", func(k capacity) float64 { return k.Decisions })
	row("refreshes per second in separate calls, without other load", func(k capacity) float64 { return k.Refreshes })
	row("grant-release pairs per second, without other load", func(k capacity) float64 { return k.Grants })
	row("expiries per second, without other load", func(k capacity) float64 { return k.Expiries })
	fmt.Fprintf(out, "\nGrants are limited by %s.", three.GrantsBound)
	if five.GrantsBound != three.GrantsBound {
		fmt.Fprintf(out, " With five servers, they are limited by %s.", five.GrantsBound)
	}
	fmt.Fprintf(out, " A hundred times the size is 10,000,000 definitions, 100,000,000 permits and 1,000,000 clients. At most %.0f such clusters are needed.\n\n", maxClusters)
	for _, formula := range []string{
		"cpu = cores · use · 1,000,000 µs per second, on the leader only, because followers only write",
		fmt.Sprintf("permits = (memory · use / reserve %.3g − %.3g MB) / (%.4g + %.4g / 10 + %.4g / 100 bytes)", c.Reserve, c.EmptyBytes/1e6, c.PermitBytes, c.DefinitionBytes, c.StreamBytes),
		fmt.Sprintf("startup time = permits · %.3g µs; the last column applies this to each cluster's share of the permits", c.Restart),
		fmt.Sprintf("kept alive = cpu · %d s / %.3g µs", refreshEvery, c.Frame),
		fmt.Sprintf("denials = cpu / %.3g µs; refreshes = cpu / %.3g µs", c.Decision, c.Refresh),
		fmt.Sprintf("commands = %.0f per entry / (2 · sync + round trip); applied = use / %.3g µs", c.CommandsPerEntry, c.Apply),
		fmt.Sprintf("grants with releases = minimum of cpu / (%.3g + %.3g · followers µs), commands / 2, applied / 2", c.Grant, c.Follower),
		fmt.Sprintf("expiries = minimum of cpu / %.3g µs, commands, applied", c.Expiry),
	} {
		fmt.Fprintf(out, "- %s\n", formula)
	}
}

// round formats a number, rounded down to two significant digits.
func round(v float64) string {
	if v < 1 {
		return "0"
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	text := fmt.Sprintf("%.0f", math.Floor(v/scale)*scale)
	var parts []string
	for len(text) > 3 {
		parts = append([]string{text[len(text)-3:]}, parts...)
		text = text[:len(text)-3]
	}
	return strings.Join(append([]string{text}, parts...), ",")
}
