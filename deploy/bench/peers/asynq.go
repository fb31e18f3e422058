package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// asynqName is asynq in a server of Redis.
const asynqName = "asynq"

// newAsynq lets asynq work in a server that runs. It looks for tasks far more often than by default, and keeps the
// results.
func (r *redisSystem) newAsynq(callers int) ([]way, error) {
	l := &ledger{}
	opt := hooked{options: r.client.Options(), hook: completions{l}}
	opt.options.PoolSize = max(callers, 2*workers)
	server := asynq.NewServer(opt, asynq.Config{Concurrency: workers, TaskCheckInterval: time.Millisecond, LogLevel: asynq.ErrorLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
		return nil, err
	}
	client := asynq.NewClient(opt)
	r.asynq = func() {
		_ = client.Close() // the server of Redis goes too
		server.Shutdown()
	}
	enqueue := func(ctx context.Context, id string) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask("task", nil, asynq.Retention(time.Hour), asynq.TaskID(id)))
		return err
	}
	return taskWays(asynqName, 1, "Enqueue, Handler", l, func(ctx context.Context, id string, tasks int) error {
		if tasks == 1 {
			return enqueue(ctx, id)
		}
		// It has no call for many.
		submitting, ctx := errgroup.WithContext(ctx)
		submitting.SetLimit(workers)
		for i := range tasks {
			submitting.Go(func() error { return enqueue(ctx, id+"-"+strconv.Itoa(i)) })
		}
		return submitting.Wait()
	}), nil
}

// hooked makes clients of Redis whose commands a hook sees.
type hooked struct {
	options *redis.Options
	hook    redis.Hook
}

// MakeRedisClient is for asynq.
func (h hooked) MakeRedisClient() any {
	options := *h.options
	client := redis.NewClient(&options)
	client.AddHook(h.hook)
	return client
}

// completions sees which tasks asynq has completed: it says so to nobody but Redis.
type completions struct{ ledger *ledger }

func (completions) DialHook(next redis.DialHook) redis.DialHook { return next }

func (completions) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook looks for the script whose third key is the list of completed tasks, and whose fourth is the task.
func (c completions) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	const completed, task = 5, 6 // among the arguments of EVALSHA, whose keys begin at 3
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		args := cmd.Args()
		if err != nil || len(args) <= task {
			return err
		}
		if key, ok := args[completed].(string); !ok || !strings.HasSuffix(key, ":completed") {
			return nil
		}
		key, _ := args[task].(string)
		_, id, _ := strings.Cut(key, ":t:")
		id, _, _ = strings.Cut(id, "-")
		c.ledger.recorded(id)
		return nil
	}
}
