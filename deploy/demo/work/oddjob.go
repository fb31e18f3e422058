package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/internal/overlap"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Oddjob is the last section of the article "Distributing Work", sped up: the work takes 15 s, and the schedule is every 10 s. With three
// workers, one is always idle. In the end the worker of the last round is killed, and the idle one does its work.
type Oddjob struct {
	stage.Stage
	period time.Duration
	rounds int

	dues   []time.Time
	names  map[time.Time]string // of the rounds
	claims map[time.Time]*gatekeeperv1.FiringClaim
	victim *stage.Process
}

// oddjobs is how many Oddjobs there are, and how many permits the semaphore has: firings overlap.
const oddjobs = 3

const oddjobWork = "work"

// Flags defines the story's flags.
func (s *Oddjob) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 3*time.Second)
	f.DurationVar(&s.period, "every", 3*time.Second, "the time between two rounds, 10s in the article; the work takes one and a half of it")
	f.IntVar(&s.rounds, "rounds", 8, "how many rounds there are")
}

// takes is how long the work takes.
func (s *Oddjob) takes() time.Duration { return s.period * 3 / 2 }

// Play plays the story.
func (s *Oddjob) Play(ctx context.Context) error {
	if s.period < time.Second || s.rounds < 2 || s.Duration < time.Second {
		return errors.New("a demo needs an -every and a -duration of 1s or more, and -rounds 2 or more")
	}
	return s.Run(ctx, s.play)
}

func (s *Oddjob) play(ctx context.Context) error {
	permits := uint32(oddjobs)
	if err := s.Serve(ctx, []*gatekeeperv1.Definition{{
		Name: oddjobWork, Permits: &permits, FiringOnLoss: gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
	}}); err != nil {
		return err
	}
	s.Epoch = boottime.Now()
	for i := range oddjobs {
		name := fmt.Sprintf("oddjob-%d", i+1)
		p, err := s.Start(ctx, Part, name, role{Oddjob: &oddjob{
			Name: name, Semaphore: oddjobWork, Endpoints: s.Cluster.Endpoints(), Period: s.period, Takes: s.takes(),
		}})
		if err != nil {
			return err
		}
		if _, err := await(ctx, p, "its timer runs", func(r stage.Record) bool { return r.Event == scheduling }); err != nil {
			return err
		}
	}
	s.Say("%d workers have the same timer: work of %v is due every %v", oddjobs, s.takes(), s.period)
	first := time.Now().Truncate(s.period).Add(s.period)
	for i := range s.rounds {
		s.dues = append(s.dues, first.Add(time.Duration(i)*s.period))
	}
	for i, due := range s.dues {
		if err := s.round(ctx, i, due); err != nil {
			return err
		}
	}
	if err := s.killTheLast(ctx); err != nil {
		return err
	}
	if err := s.End(ctx, syscall.SIGTERM, patience); err != nil {
		return err
	}
	if err := s.ask(ctx); err != nil {
		return err
	}
	s.judge(s.Lives())
	return nil
}

// round waits until a worker has the firing and another one has lost it.
func (s *Oddjob) round(ctx context.Context, i int, due time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var by, idle []string
	err := stage.Await(ctx, fmt.Sprintf("a worker that runs round %d, and an idle one", i+1), func() (bool, error) {
		by, idle = with(s.Lives(), stage.Granted, due), with(s.Lives(), lost, due)
		return len(by) > 0 && len(idle) > 0, nil
	})
	if err == nil {
		s.Say("round %d: %s works, and %s is idle", i+1, strings.Join(by, " and "), strings.Join(idle, " and "))
	}
	return err
}

// with are the processes that have written such a record of a firing.
func with(lives []*stage.Life, e stage.Event, due time.Time) (names []string) {
	for _, l := range lives {
		if slices.ContainsFunc(l.Records, func(r stage.Record) bool { return r.Event == e && r.Due.Equal(due) }) {
			names = append(names, l.Name)
		}
	}
	return names
}

// killTheLast kills the worker of the last round in the middle of its work, and stops the others' timers.
func (s *Oddjob) killTheLast(ctx context.Context) error {
	due := s.dues[len(s.dues)-1]
	var grant stage.Record
	for _, p := range s.Processes {
		for _, r := range p.Life().Since(stage.Granted, 0) {
			if r.Due.Equal(due) {
				s.victim, grant = p, r
			}
		}
	}
	if err := stage.SleepUntil(ctx, grant.At+s.takes()/3); err != nil {
		return err
	}
	s.victim.Kill()
	s.Say("kill -9 of %s in the middle of round %d; the others' timers stop", s.victim.Name, s.rounds)
	for _, p := range s.Processes {
		if p != s.victim {
			_ = p.Signal(syscall.SIGTERM)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return stage.Await(ctx, "another worker of the last round", func() (bool, error) {
		for _, name := range with(s.Lives(), stage.Granted, due) {
			if name != s.victim.Name {
				s.Say("%s, which heard that the work is open again, does it", name)
				return true, nil
			}
		}
		return false, nil
	})
}

// ask asks the servers what they have recorded of each round.
func (s *Oddjob) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.claims = map[time.Time]*gatekeeperv1.FiringClaim{}
	for _, due := range s.dues {
		for claim, err := range s.Client.Semaphore(oddjobWork).WatchFiring(ctx, oddjobWork, due, 0) {
			if err != nil {
				return err
			}
			s.claims[due] = claim
			break
		}
	}
	return nil
}

// judge reports on the rounds.
func (s *Oddjob) judge(lives []*stage.Life) {
	var beliefs, perRound []overlap.Belief
	permits := map[string]uint32{}
	runs := map[time.Time][]*stage.Grant{}
	for _, l := range lives {
		for _, g := range l.Grants() {
			b := g.Belief(stage.Granted)
			beliefs = append(beliefs, b)
			b.Semaphore = "round of " + g.Due.Format(time.TimeOnly)
			perRound, permits[b.Semaphore] = append(perRound, b), 1
			for _, due := range s.dues {
				if g.Due.Equal(due) {
					runs[due] = append(runs[due], g)
				}
			}
		}
	}
	lines := [][]string{{"round", "due", "done by", "idle", "the idle one heard"}}
	done := 0
	for i, due := range s.dues {
		line, ok := s.judgeRound(lives, i, due, runs[due])
		lines = append(lines, line)
		if ok {
			done++
		}
	}
	s.Row("rounds", "%d of %d were done once, as recorded, and left a worker idle", done, s.rounds)
	s.Row("overlaps", "%d, of %d beliefs of workers", s.Break(stage.Overlaps(perRound, permits)...), len(perRound))
	busy := overlap.Find(beliefs, map[string]uint32{oddjobWork: oddjobs - 1})
	for _, o := range busy {
		s.Breakf("no worker was idle for %v", o.Until-o.From)
	}
	s.Row("always idle", "1 of %d workers: all worked %d times at once", oddjobs, len(busy))
	s.Tables = append(s.Tables, stage.Table{Title: "rounds", Lines: lines})
}

// judgeRound is a line of the table, and whether the round kept all promises.
func (s *Oddjob) judgeRound(lives []*stage.Life, i int, due time.Time, runs []*stage.Grant) (line []string, ok bool) {
	before := len(s.Broken)
	claim := s.claims[due]
	winner := claim.GetWinner().GetAcquirer()
	if claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE {
		s.Breakf("round %d is %s, and should be done", i+1, claim.GetState())
	}
	ended := 0
	for _, g := range runs {
		switch {
		case g.Life.Killed > 0:
		case g.Token != claim.GetToken() || g.Life.Name != winner:
			s.Breakf("round %d was run by %s, and %s is recorded", i+1, g.Life.Name, winner)
		default:
			ended++
		}
	}
	if killed := s.victim != nil && winner == s.victim.Name && i == s.rounds-1; killed {
		s.Breakf("round %d is recorded for %s, which was killed in the middle", i+1, winner)
	}
	if ended != 1 && (s.victim == nil || winner != s.victim.Name) {
		s.Breakf("round %d was done %d times", i+1, ended)
	}
	idle, news := with(lives, lost, due), []string{}
	for _, l := range lives {
		for _, r := range l.Records {
			if (r.Event == heard || r.Event == open) && r.Due.Equal(due) {
				news = append(news, strings.ToLower(strings.TrimPrefix(string(r.Event)+" "+r.Text, "heard FIRING_STATE_")))
			}
		}
	}
	if len(idle) == 0 {
		s.Breakf("no worker was idle in round %d", i+1)
	}
	return []string{strconv.Itoa(i + 1), due.Format(time.TimeOnly), winner, strings.Join(idle, ", "), strings.Join(news, ", ")}, len(s.Broken) == before
}
