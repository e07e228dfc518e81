package peers

import (
	"context"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqPeer does the job with the task queue asynq: a hash holds the request and
// the first decision, a scheduled task is the deadline, and a task tells the
// caller.
type asynqPeer struct {
	waiting
	redis  *redis.Client
	client *asynq.Client
	tasks  *asynq.Inspector
	server *asynq.Server
}

// asynqPoll is the interval at which asynq checks for scheduled tasks, and for
// new tasks when it is idle. Its default is 1 s.
const asynqPoll = 5 * time.Millisecond

func newAsynq(_ context.Context, c config) (peer, error) {
	o := asynq.RedisClientOpt{Addr: c.redis}
	p := &asynqPeer{
		redis: redis.NewClient(&redis.Options{Addr: c.redis}), client: asynq.NewClient(o), tasks: asynq.NewInspector(o),
		server: asynq.NewServer(o, asynq.Config{
			Concurrency: c.callers, TaskCheckInterval: asynqPoll, LogLevel: asynq.FatalLevel, ShutdownTimeout: time.Second,
		}),
	}
	tasks := asynq.NewServeMux()
	tasks.HandleFunc("answer", func(_ context.Context, t *asynq.Task) error {
		id, answer, _ := strings.Cut(string(t.Payload()), " ")
		p.tell(id, answer)
		return nil
	})
	tasks.HandleFunc("deadline", func(ctx context.Context, t *asynq.Task) error {
		_, err := p.decide(ctx, string(t.Payload()), "expired")
		return err
	})
	return p, p.server.Start(tasks)
}

func (p *asynqPeer) open(ctx context.Context, id string, deadline time.Time) (<-chan string, error) {
	told := p.add(id)
	if err := p.redis.HSet(ctx, "request:"+id, "prompt", prompt, "deadline", deadline.UnixMilli()).Err(); err != nil {
		return nil, err
	}
	_, err := p.client.EnqueueContext(ctx, asynq.NewTask("deadline", []byte(id)), asynq.TaskID(id), asynq.ProcessAt(deadline))
	return told, err
}

func (p *asynqPeer) decide(ctx context.Context, id, answer string) (bool, error) {
	won, err := p.redis.HSetNX(ctx, "request:"+id, "answer", answer).Result()
	if err != nil || !won {
		return won, err
	}
	if _, err := p.client.EnqueueContext(ctx, asynq.NewTask("answer", []byte(id+" "+answer))); err != nil {
		return true, err
	}
	if answer == "expired" {
		return true, nil
	}
	return true, p.tasks.DeleteTask("default", id)
}

func (p *asynqPeer) close() {
	p.server.Shutdown()
	_, _, _ = p.client.Close(), p.tasks.Close(), p.redis.Close() // everything is stored
}
