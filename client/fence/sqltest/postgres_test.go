package sqltest

import (
	"database/sql"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

func TestPostgreSQL(t *testing.T) {
	suite(t, startPostgreSQL(t), "BIGSERIAL PRIMARY KEY")
}

// program returns the path of a PostgreSQL server program. Debian does not put these in PATH.
func program(t *testing.T, name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL's " + name + " is not installed")
	}
	return slices.Max(found)
}

// startPostgreSQL starts a server that listens only on a socket in a temporary directory.
func startPostgreSQL(t *testing.T) *sql.DB {
	initdb, postgres := program(t, "initdb"), program(t, "postgres")
	dir, err := os.MkdirTemp("", "gatekeeper-pg-") // short, because socket paths are limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		attr.Credential = &syscall.Credential{Uid: lookupID(t, "nobody", func(u *user.User) string { return u.Uid }), Gid: lookupID(t, "nobody", func(u *user.User) string { return u.Gid })}
		if err := os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...) //nolint:noctx // stopped with SIGINT below
		cmd.Dir, cmd.SysProcAttr, cmd.Stderr = dir, attr, os.Stderr
		return cmd
	}
	if err := command(initdb, "--pgdata", dir+"/data", "--username", "fence", "--auth", "trust", "--no-sync", "--no-instructions").Run(); err != nil {
		t.Fatal(err)
	}
	server := command(postgres, "-D", dir+"/data", "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown
		_ = server.Wait()
	})
	db, err := sql.Open("pgx", "host="+dir+" user=fence dbname=postgres")
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-tick.C {
		if err = db.PingContext(t.Context()); err == nil {
			return db
		}
		if time.Now().After(deadline) {
			t.Fatalf("PostgreSQL is not responding: %v", err)
		}
	}
}

func lookupID(t *testing.T, name string, field func(*user.User) string) uint32 {
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(field(u), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}
