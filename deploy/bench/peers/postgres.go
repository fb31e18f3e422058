package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
)

// SQL statements for a lock table like a job scheduler's. Each row holds a lock's name, holder and expiry.
const (
	postgresTable = `CREATE TABLE locks (name text PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL)`
	postgresRows  = `INSERT INTO locks SELECT name, '', '-infinity' FROM unnest($1::text[]) AS name`
	postgresTake  = `UPDATE locks SET holder = $2, until = now() + interval '1 hour' WHERE name = $1 AND until <= now()`
	postgresFree  = `UPDATE locks SET until = '-infinity' WHERE name = $1 AND holder = $2 AND until > now()`
	postgresKeep  = `UPDATE locks SET until = now() + interval '1 hour' WHERE name = $1 AND holder = $2 AND until > now()`
)

// postgresConns is the number of connections that the callers share. With more connections, PostgreSQL is slower.
const postgresConns = 64

// postgres is a PostgreSQL server with its default settings, which sync each commit before the response.
type postgres struct {
	process *process
	pool    *pgxpool.Pool
	river   *river.Client[pgx.Tx] // nil if it is not running
}

// newPostgres starts a server, with River if tasks is set. It returns an *skipError if PostgreSQL cannot run here.
func newPostgres(ctx context.Context, dir string, callers int, tasks bool) (*system, error) {
	initdb, program := postgresProgram("initdb"), postgresProgram("postgres")
	if initdb == "" || program == "" {
		return nil, &skipError{"the PostgreSQL server is not installed"}
	}
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "postgresql")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	initRun, err := run("initdb", dir, as, initdb, "--pgdata", filepath.Join(dir, "data"), "--username", "bench", "--auth", "trust", "--no-instructions")
	if err != nil {
		return nil, err
	}
	if <-initRun.done; initRun.err != nil {
		return nil, initRun.failed(errors.New("the data directory could not be created"))
	}
	free, err := ports.Free(1)
	if err != nil {
		return nil, err
	}
	host, port, _ := strings.Cut(free[0], ":")
	p := &postgres{}
	p.process, err = run("postgres", dir, as, program, "-D", filepath.Join(dir, "data"), "-p", port, "-c", "listen_addresses="+host, "-c", "unix_socket_directories=")
	if err != nil {
		return nil, err
	}
	if err := p.prepare(ctx, fmt.Sprintf("host=%s port=%s user=bench dbname=postgres sslmode=disable pool_max_conns=%d", host, port, postgresConns), callers); err != nil {
		err = p.process.failed(err)
		p.close()
		return nil, err
	}
	all := []variant{
		{Work: pairs, How: "UPDATE of a row, twice", open: ready(p.pair)},
		{Work: denials, How: "UPDATE that matches no row", open: ready(p.denial)},
		{Work: refreshes, How: "UPDATE of a row", open: ready(p.refresh)},
	}
	for i := range all {
		all[i].System, all[i].Servers = "PostgreSQL", 1
	}
	if tasks {
		variants, err := p.newRiver(ctx)
		if err != nil {
			err = p.process.failed(err)
			p.close()
			return nil, err
		}
		all = append(all, variants...)
	}
	return &system{version: strings.TrimSpace(string(version)), variants: all, processes: pids(p.process), stop: p.close}, nil
}

// postgresProgram returns the path of a server program, which Debian does not put in PATH, or "" if it is not found.
func postgresProgram(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// unprivileged returns the user that runs the server. PostgreSQL refuses to run as root, so if this program runs as
// root, unprivileged returns the user nobody, and makes that user the owner of dir. nil means the current user.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, &skipError{"PostgreSQL does not run as root, and the user nobody was not found: " + err.Error()}
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, err
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return nil, err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return nil, &skipError{"PostgreSQL does not run as root, and the user nobody has no access to " + parent + ": set -bin to a directory that all users can access"}
		}
		if parent == filepath.Dir(parent) {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
}

func (p *postgres) prepare(ctx context.Context, address string, callers int) error {
	var err error
	if p.pool, err = pgxpool.New(ctx, address); err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := p.pool.Ping(ctx)
		if err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-p.process.done:
			return errors.New("the server did not become ready")
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
	if _, err := p.pool.Exec(ctx, postgresTable); err != nil {
		return err
	}
	names := []string{"held"}
	for caller := range callers {
		names = append(names, ownKey(caller), keptKey(caller))
	}
	if _, err := p.pool.Exec(ctx, postgresRows, names); err != nil {
		return err
	}
	if _, err := p.row(ctx, postgresTake, "held", "holder"); err != nil {
		return err
	}
	for caller := range callers {
		if _, err := p.row(ctx, postgresTake, keptKey(caller), holder(caller)); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) close() {
	stopRiver(p.river)
	if p.pool != nil {
		p.pool.Close()
	}
	p.process.stop(syscall.SIGINT) // PostgreSQL's fast shutdown, which does not wait for clients
}

// row executes a statement and fails unless it changes exactly one row.
func (p *postgres) row(ctx context.Context, statement string, args ...any) (int, error) {
	tag, err := p.pool.Exec(ctx, statement, args...)
	if err == nil && tag.RowsAffected() != 1 {
		err = fmt.Errorf("%d rows were changed, want 1", tag.RowsAffected())
	}
	return 1, err
}

func (p *postgres) pair(ctx context.Context, caller int) (int, error) {
	if _, err := p.row(ctx, postgresTake, ownKey(caller), holder(caller)); err != nil {
		return 0, err
	}
	return p.row(ctx, postgresFree, ownKey(caller), holder(caller))
}

func (p *postgres) denial(ctx context.Context, caller int) (int, error) {
	tag, err := p.pool.Exec(ctx, postgresTake, "held", holder(caller))
	if err == nil && tag.RowsAffected() != 0 {
		err = errors.New("the held row was granted again")
	}
	return 1, err
}

func (p *postgres) refresh(ctx context.Context, caller int) (int, error) {
	return p.row(ctx, postgresKeep, keptKey(caller), holder(caller))
}
