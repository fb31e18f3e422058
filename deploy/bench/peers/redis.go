package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/redis/go-redis/v9"
)

// skipError explains why a peer is not measured.
type skipError struct{ reason string }

func (e *skipError) Error() string { return e.reason }

// The usual scripts for Redis locks. They delete or extend a lock only if it belongs to the caller.
const (
	redisDelete = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	redisExtend = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`
)

// redisSystem is a Redis server that syncs each write before it responds.
type redisSystem struct {
	process        *process
	client         *redis.Client
	release, renew *redis.Script
	stopAsynq      func() // stops asynq; nil if it is not running
}

// newRedis starts a server, with asynq if tasks is set. It returns an *skipError if Redis is not installed. Each caller
// gets its own connection.
func newRedis(ctx context.Context, dir string, callers int, tasks bool) (*system, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, &skipError{"redis-server is not installed"}
	}
	version, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "redis")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	free, err := ports.Free(1)
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(free[0], ":")
	r := &redisSystem{release: redis.NewScript(redisDelete), renew: redis.NewScript(redisExtend)}
	r.process, err = run("redis", dir, nil, program, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--daemonize", "no",
		"--save", "", "--appendonly", "yes", "--appendfsync", "always")
	if err != nil {
		return nil, err
	}
	r.client = redis.NewClient(&redis.Options{Addr: free[0], PoolSize: callers, MaxRetries: -1})
	if err := r.prepare(ctx, callers); err != nil {
		err = r.process.failed(err)
		r.close()
		return nil, err
	}
	all := []variant{
		{Work: pairs, How: "SET NX PX, script", open: ready(r.pair)},
		{Work: denials, How: "SET NX PX", open: ready(r.denial)},
		{Work: refreshes, How: "script", open: ready(r.refresh)},
	}
	for i := range all {
		all[i].System, all[i].Servers = "Redis", 1
	}
	if tasks {
		variants, err := r.newAsynq(callers)
		if err != nil {
			r.close()
			return nil, err
		}
		all = append(all, variants...)
	}
	name, _, _ := strings.Cut(string(version), " sha=") // drop the build details
	return &system{version: name, variants: all, processes: pids(r.process), stop: r.close}, nil
}

func (r *redisSystem) prepare(ctx context.Context, callers int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := r.client.Ping(ctx).Err()
		if err == nil {
			break
		}
		select {
		case <-tick.C:
		case <-r.process.done:
			return errors.New("the server did not become ready")
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
	for _, s := range []*redis.Script{r.release, r.renew} {
		if err := s.Load(ctx, r.client).Err(); err != nil {
			return err
		}
	}
	for caller := range callers {
		if err := r.client.Set(ctx, keptKey(caller), holder(caller), long).Err(); err != nil {
			return err
		}
	}
	return r.client.Set(ctx, "held", "holder", long).Err()
}

func keptKey(caller int) string { return "kept/" + strconv.Itoa(caller) }
func holder(caller int) string  { return "caller-" + strconv.Itoa(caller) }

func (r *redisSystem) close() {
	if r.stopAsynq != nil {
		r.stopAsynq()
	}
	_ = r.client.Close()
	r.process.stop(syscall.SIGTERM)
}

func (r *redisSystem) pair(ctx context.Context, caller int) (int, error) {
	key, me := ownKey(caller), holder(caller)
	granted, err := r.client.SetNX(ctx, key, me, long).Result()
	if err != nil {
		return 0, err
	}
	if !granted {
		return 0, fmt.Errorf("%s already exists", key)
	}
	return 1, checkOne(r.release.EvalSha(ctx, r.client, []string{key}, me))
}

func (r *redisSystem) denial(ctx context.Context, caller int) (int, error) {
	granted, err := r.client.SetNX(ctx, "held", holder(caller), long).Result()
	if err == nil && granted {
		err = errors.New("the held key was granted again")
	}
	return 1, err
}

func (r *redisSystem) refresh(ctx context.Context, caller int) (int, error) {
	return 1, checkOne(r.renew.EvalSha(ctx, r.client, []string{keptKey(caller)}, holder(caller), long.Milliseconds()))
}

// checkOne fails unless the script changed exactly one key.
func checkOne(c *redis.Cmd) error {
	n, err := c.Int()
	if err == nil && n != 1 {
		err = fmt.Errorf("the script changed %d keys, want 1", n)
	}
	return err
}
