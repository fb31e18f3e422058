package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// submit submits a job with one task.
func (r *runTest) submit(id string) {
	r.Helper()
	if out, err := r.gkctl("job", "submit", "job", "payload", "--id", id).CombinedOutput(); err != nil {
		r.Fatalf("%v: %s", err, out)
	}
}

// TestWork_NoServerResponds_CommandIsKilledBeforePermitExpires tests gkctl work's guarantee that none of the command's
// processes are still running when another worker can receive the task.
func TestWork_NoServerResponds_CommandIsKilledBeforePermitExpires(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job, duration: 4s}")
	r.write("stubborn", stubborn)
	r.submit("j")
	cmd := r.startCommand("work", "--kill-after", "300ms", "--", "./stubborn")
	r.untilFile("permit")
	r.untilFile("alive")
	r.untilFile("grandchild")
	r.stopServer()
	for _, name := range []string{"command", "grandchild"} {
		r.until("the "+name+" to exit", func() bool { return !alive(r.readInt(name)) })
	}
	last, deadline, sigtermAt := int64(r.readInt("alive")), r.permit().SafeUntil.UnixNano(), r.modTime("sigterm")
	if last >= deadline {
		t.Errorf("the command was still running %s after the permit's deadline", time.Duration(last-deadline))
	}
	if sigtermAt >= deadline {
		t.Errorf("SIGTERM arrived %s after the permit's deadline", time.Duration(sigtermAt-deadline))
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd); got != 0 {
		t.Errorf("gkctl work: exit code %d, want 0; standard error:\n%s", got, r.stderr.String())
	}
	if !strings.Contains(r.stderr.String(), "task 0 of job j was returned: killed by SIGKILL") {
		t.Errorf("standard error does not report the returned task: %s", r.stderr.String())
	}
}

func TestWork_Killed_NoProcessSurvives(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job}")
	r.write("stubborn", stubborn)
	r.submit("j")
	cmd := r.startCommand("work", "--", "./stubborn")
	r.wantNoProcessLeft(cmd)
}

// A daemon left behind by a command becomes a child of gkctl, which must reap it.
func TestWork_OrphanExits_IsReaped(t *testing.T) {
	t.Parallel()
	if !isLinux() {
		return // on other systems, init adopts the orphan
	}
	r := newRunTest(t, "{name: job}")
	r.write("daemonize", `#!/bin/sh
setsid sleep 1000 </dev/null >/dev/null 2>&1 &
while test "$(cut -d' ' -f5 /proc/$!/stat)" = $$; do sleep 0.01; done
test -e orphan && kill $! || echo $! > orphan
`)
	r.submit("j")
	r.startCommand("work", "--", "./daemonize")
	r.untilFile("orphan")
	orphan := r.readInt("orphan")
	if err := syscall.Kill(orphan, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	jobs := 0
	r.until("gkctl to reap the orphan", func() bool {
		jobs++
		r.submit(fmt.Sprint("more-", jobs)) // the worker reaps orphans after each command
		_, err := os.Stat("/proc/" + strconv.Itoa(orphan))
		return err != nil
	})
}
