package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

// runTest holds a server and the working directory of the gkctl processes.
type runTest struct {
	*testing.T
	dir    string
	server *gatekeeper.Server
	closed bool
	env    []string
	stderr bytes.Buffer
}

func newRunTest(t *testing.T, definition string) *runTest {
	r := &runTest{T: t, dir: t.TempDir()}
	// Under nohup, children ignore SIGHUP unless their parent handles it.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	var err error
	r.server, err = gatekeeper.Open(t.Context(), gatekeeper.Config{
		DataDir: t.TempDir(), APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stopServer)
	if err := r.server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "GK_ENDPOINTS="+r.server.APIAddress(), "GK_CONFIG="+filepath.Join(r.dir, "config.yaml"), "XDG_RUNTIME_DIR="+r.dir)
	r.write("defs.yaml", "definitions: ["+definition+"]\n")
	if out, err := r.gkctl("apply", "-f", "defs.yaml").CombinedOutput(); err != nil {
		t.Fatalf("gkctl apply: %v\n%s", err, out)
	}
	return r
}

func (r *runTest) stopServer() {
	if r.closed {
		return
	}
	r.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 10*time.Second)
	defer cancel()
	if err := r.server.Close(ctx); err != nil {
		r.Error(err)
	}
}

func (r *runTest) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o700); err != nil {
		r.Fatal(err)
	}
}

func (r *runTest) read(name string) string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

func (r *runTest) readInt(name string) int {
	r.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(r.read(name)))
	if err != nil {
		r.Fatal(err)
	}
	return n
}

// modTime returns a file's modification time, in nanoseconds.
func (r *runTest) modTime(name string) int64 {
	r.Helper()
	info, err := os.Stat(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return info.ModTime().UnixNano()
}

func (r *runTest) gkctl(args ...string) *exec.Cmd {
	cmd := exec.Command("gkctl", args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	return cmd
}

// start starts gkctl run and kills it at the end of the test.
func (r *runTest) start(args ...string) *exec.Cmd {
	r.Helper()
	return r.startCommand("run", args...)
}

// startCommand starts a gkctl command for the semaphore "job" and kills it at the end of the test.
func (r *runTest) startCommand(name string, args ...string) *exec.Cmd {
	r.Helper()
	cmd := r.gkctl(append([]string{name, "job"}, args...)...)
	cmd.Stderr = &r.stderr
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// until waits up to a minute for f to return true.
func (r *runTest) until(what string, f func() bool) {
	r.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-end.C:
			r.Fatalf("timed out waiting for %s; standard error:\n%s", what, r.stderr.String())
		}
	}
}

func (r *runTest) untilFile(name string) {
	r.Helper()
	r.until(name, func() bool {
		info, err := os.Stat(filepath.Join(r.dir, name))
		return err == nil && info.Size() > 0
	})
}

// alive reports whether a process is running. Zombies do not count.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		return errors.Is(syscall.Kill(pid, 0), nil) && !isLinux()
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X'
}

func isLinux() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

func exitCode(cmd *exec.Cmd) int {
	err := cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return cmd.ProcessState.ExitCode()
}

// stubborn is a script that records SIGTERM but does not exit, writes the time repeatedly, and keeps a copy of the
// permit file.
const stubborn = `#!/bin/sh
trap ': > sigterm' TERM
sh -c 'trap "" TERM; echo $$ > grandchild; while :; do date +%s%N > alive.new; mv alive.new alive; done' &
echo $$ > command
while :; do cp "$GK_PERMIT_FILE" permit.new 2>/dev/null && mv permit.new permit; done
`

// permit returns the contents of the stubborn script's copy of the permit file.
func (r *runTest) permit() (s struct {
	Token, State string
	SafeUntil    *time.Time `json:"safe_until"`
},
) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.read("permit")), &s); err != nil {
		r.Fatal(err)
	}
	return s
}

// TestRun_NoServerResponds_CommandIsKilledBeforePermitExpires tests gkctl run's guarantee that none of the command's
// processes run after the permit's deadline.
func TestRun_NoServerResponds_CommandIsKilledBeforePermitExpires(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job, duration: 4s}")
	r.write("stubborn", stubborn)
	cmd := r.start("--kill-after", "300ms", "--status-file", "st.json", "--", "./stubborn")
	r.untilFile("permit")
	r.untilFile("alive")
	r.stopServer()
	if got := exitCode(cmd); got != ui.ExitLost {
		t.Fatalf("gkctl run: exit code %d, want %d; standard error:\n%s", got, ui.ExitLost, r.stderr.String())
	}
	last, deadline, sigtermAt := int64(r.readInt("alive")), r.permit().SafeUntil.UnixNano(), r.modTime("sigterm")
	if last >= deadline {
		t.Errorf("the command was still running %s after the permit's deadline", time.Duration(last-deadline))
	}
	if sigtermAt >= deadline { // the command recorded SIGTERM, so SIGTERM arrived before SIGKILL
		t.Errorf("SIGTERM arrived %s after the permit's deadline", time.Duration(sigtermAt-deadline))
	}
	for _, name := range []string{"command", "grandchild"} {
		if alive(r.readInt(name)) {
			t.Errorf("the %s is still running", name)
		}
	}
	if st := r.read("st.json"); !strings.Contains(st, `"reason": "NO_ANSWER"`) || !strings.Contains(st, `"released": false`) {
		t.Errorf("status file = %s, want reason NO_ANSWER and released false", st)
	}
	if !strings.Contains(r.stderr.String(), "had to be killed") {
		t.Errorf("standard error does not report that the command had to be killed: %s", r.stderr.String())
	}
}

// A suspended wrapper cannot stop the command, so the guard must kill it.
func TestRun_WrapperSuspended_GuardKillsCommandBeforePermitExpires(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job, duration: 2s}")
	r.write("stubborn", stubborn)
	cmd := r.start("--kill-after", "300ms", "--", "./stubborn")
	r.untilFile("permit")
	r.untilFile("alive")
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.until("the process group to be killed", func() bool { return !alive(r.readInt("command")) && !alive(r.readInt("grandchild")) })
	if last, deadline := int64(r.readInt("alive")), r.permit().SafeUntil.UnixNano(); last >= deadline {
		t.Errorf("the command was still running %s after the permit's deadline", time.Duration(last-deadline))
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd); got != ui.ExitLost {
		t.Errorf("gkctl run: exit code %d, want %d; standard error:\n%s", got, ui.ExitLost, r.stderr.String())
	}
}

func TestRun_WrapperKilled_NoProcessSurvives(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job}")
	r.write("stubborn", stubborn)
	cmd := r.start("--", "./stubborn")
	r.wantNoProcessLeft(cmd)
}

// wantNoProcessLeft kills a gkctl process running the stubborn script, and waits until all of the script's processes
// have exited.
func (r *runTest) wantNoProcessLeft(cmd *exec.Cmd) {
	r.Helper()
	r.untilFile("permit")
	r.untilFile("alive")
	r.untilFile("grandchild")
	if err := cmd.Process.Kill(); err != nil {
		r.Fatal(err)
	}
	_ = cmd.Wait()
	r.until("the process group to exit", func() bool { return !alive(r.readInt("command")) && !alive(r.readInt("grandchild")) })
	r.until("the permit file to be removed", func() bool {
		left, err := filepath.Glob(filepath.Join(r.dir, "gkctl-run-*"))
		return err == nil && len(left) == 0
	})
}

// The kernel must kill the command if both gkctl and its guard are killed.
func TestRun_WrapperAndGuardKilled_CommandIsKilled(t *testing.T) {
	t.Parallel()
	if !isLinux() {
		return // finding the guard requires /proc; FreeBSD also uses Pdeathsig
	}
	r := newRunTest(t, "{name: job}")
	cmd := r.start("--", "sh", "-c", "echo $$ > command; exec sleep 1000")
	r.untilFile("command")
	guards := 0
	for _, pid := range childrenOf(t, cmd.Process.Pid) {
		if pid != r.readInt("command") {
			guards++
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if guards != 1 {
		t.Fatalf("found %d guards, want 1", guards)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	r.until("the command to be killed", func() bool { return !alive(r.readInt("command")) })
}

func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // the process has exited
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	return children
}

func TestRun_Signals_ReachWholeProcessGroup(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job}")
	r.write("listener", `#!/bin/sh
for s in HUP INT QUIT USR1 USR2 ALRM WINCH; do trap "touch $1-$s" $s; done
trap "touch $1-TERM; exit 5" TERM
test "$1" = child || ./listener child &
touch $1-ready
while :; do sleep 0.01; done
`)
	cmd := r.start("--", "./listener", "parent")
	exists := func(name string) func() bool {
		return func() bool { _, err := os.Stat(filepath.Join(r.dir, name)); return err == nil }
	}
	for _, who := range []string{"parent", "child"} {
		r.until(who+" to start", exists(who+"-ready"))
	}
	for _, s := range []struct {
		name   string
		signal syscall.Signal
	}{
		{"HUP", syscall.SIGHUP},
		// A shell's background processes permanently ignore SIGINT and SIGQUIT, so these are only checked in the
		// parent.
		{"INT", syscall.SIGINT},
		{"QUIT", syscall.SIGQUIT},
		{"USR1", syscall.SIGUSR1},
		{"USR2", syscall.SIGUSR2},
		{"ALRM", syscall.SIGALRM},
		{"WINCH", syscall.SIGWINCH},
		{"TERM", syscall.SIGTERM},
	} {
		if err := cmd.Process.Signal(s.signal); err != nil {
			t.Fatal(err)
		}
		r.until("the parent to receive SIG"+s.name, exists("parent-"+s.name))
		if s.name != "INT" && s.name != "QUIT" && s.name != "TERM" {
			r.until("the child to receive SIG"+s.name, exists("child-"+s.name))
		}
	}
	if got := exitCode(cmd); got != 5 {
		t.Errorf("gkctl run: exit code %d, want the command's exit code 5; standard error:\n%s", got, r.stderr.String())
	}
}

// A planned reboot terminates commands with SIGTERM. The firing then counts as done only if the command exits with 0.
func TestRun_TerminatedBySignal_FiringIsCutShort(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		for _, wantCode := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s, exit code %d", s, wantCode), func(t *testing.T) {
				r := newRunTest(t, "{name: job, firing_on_loss: free}")
				r.write("export", fmt.Sprintf(`#!/bin/sh
trap 'exit %d' TERM INT HUP
touch ready
while :; do sleep 0.01; done
`, wantCode))
				firing := []string{"--firing", "nightly@2026-01-31T02:00:00Z", "--"}
				cmd := r.start(append(firing, "./export")...)
				r.until("the command to start", func() bool { _, err := os.Stat(filepath.Join(r.dir, "ready")); return err == nil })
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				if got := exitCode(cmd); got != wantCode {
					t.Errorf("gkctl run: exit code %d, want the command's exit code %d; standard error:\n%s", got, wantCode, r.stderr.String())
				}
				if got := exitCode(r.start(append(firing, "touch", "again")...)); got != 0 {
					t.Errorf("second gkctl run: exit code %d, want 0; standard error:\n%s", got, r.stderr.String())
				}
				_, err := os.Stat(filepath.Join(r.dir, "again"))
				if ran := err == nil; ran != (wantCode != 0) {
					t.Errorf("second run executed the command = %v, want %v", ran, wantCode != 0)
				}
			})
		}
	}
}

func TestRun_SignalWhileWaiting_ExitsAndLeavesQueue(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job}")
	if out, err := r.gkctl("acquire", "job", "-q").CombinedOutput(); err != nil {
		t.Fatalf("gkctl acquire: %v\n%s", err, out)
	}
	cmd := r.start("--on-denied", "wait", "--", "touch", "ran")
	waiters := func() bool {
		out, err := r.gkctl("waiters", "-o", "name").Output()
		return err == nil && len(out) > 0
	}
	r.until("gkctl to join the queue", waiters)
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(cmd); got != 128+int(syscall.SIGHUP) {
		t.Errorf("gkctl run: exit code %d, want %d; standard error:\n%s", got, 128+int(syscall.SIGHUP), r.stderr.String())
	}
	r.until("gkctl to leave the queue", func() bool { return !waiters() })
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Error("gkctl run executed the command without a permit")
	}
}

func TestRun_PermitFile_IsUpdatedOnRefresh(t *testing.T) {
	t.Parallel()
	r := newRunTest(t, "{name: job, duration: 2s}")
	r.write("stubborn", stubborn)
	cmd := r.start("--kill-after", "100ms", "--", "./stubborn")
	r.untilFile("permit")
	first := r.permit()
	r.until("the deadline to change", func() bool { return r.permit().SafeUntil.After(*first.SafeUntil) })
	if now := r.permit(); now.Token != first.Token || now.State != "held" {
		t.Errorf("permit file = %+v, want token %s and state held", now, first.Token)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	r.until("the process group to exit", func() bool { return !alive(r.readInt("command")) && !alive(r.readInt("grandchild")) })
}
