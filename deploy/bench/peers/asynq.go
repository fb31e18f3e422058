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

// asynqName is asynq's name in the report.
const asynqName = "asynq"

// newAsynq starts asynq workers that use a running Redis server. They poll for tasks far more often than by default and
// retain the results.
func (r *redisSystem) newAsynq(callers int) ([]variant, error) {
	l := &ledger{}
	opt := hooked{options: r.client.Options(), hook: completions{l}}
	opt.options.PoolSize = max(callers, 2*workers)
	server := asynq.NewServer(opt, asynq.Config{Concurrency: workers, TaskCheckInterval: time.Millisecond, LogLevel: asynq.ErrorLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return nil })); err != nil {
		return nil, err
	}
	client := asynq.NewClient(opt)
	r.stopAsynq = func() {
		_ = client.Close() // the Redis server is also stopped
		server.Shutdown()
	}
	enqueue := func(ctx context.Context, id string) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask("task", nil, asynq.Retention(time.Hour), asynq.TaskID(id)))
		return err
	}
	return taskVariants(asynqName, 1, "Enqueue, Handler", l, func(ctx context.Context, id string, tasks int) error {
		if tasks == 1 {
			return enqueue(ctx, id)
		}
		// asynq cannot submit more than one task per call.
		submitting, ctx := errgroup.WithContext(ctx)
		submitting.SetLimit(workers)
		for i := range tasks {
			submitting.Go(func() error { return enqueue(ctx, id+"-"+strconv.Itoa(i)) })
		}
		return submitting.Wait()
	}), nil
}

// hooked creates Redis clients with a hook that observes their commands.
type hooked struct {
	options *redis.Options
	hook    redis.Hook
}

// MakeRedisClient implements asynq.RedisConnOpt.
func (h hooked) MakeRedisClient() any {
	options := *h.options
	client := redis.NewClient(&options)
	client.AddHook(h.hook)
	return client
}

// completions detects the tasks that asynq has completed. asynq reports completions only to Redis.
type completions struct{ ledger *ledger }

func (completions) DialHook(next redis.DialHook) redis.DialHook { return next }

func (completions) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// ProcessHook detects the script whose third key is the list of completed tasks and whose fourth key is the task.
func (c completions) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	const completed, task = 5, 6 // indexes into the arguments of EVALSHA, whose keys begin at 3
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
