package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresPeer does the job with PostgreSQL: a decision updates a pending row,
// and a notification on one connection tells the callers of the process.
type postgresPeer struct {
	waiting
	server *process
	asks   *pgxpool.Pool
	acts   *pgxpool.Pool
	stop   context.CancelFunc
}

const postgresSchema = `
CREATE TABLE requests (id text PRIMARY KEY, prompt jsonb NOT NULL, deadline timestamptz NOT NULL, answer text);
CREATE INDEX ON requests (deadline) WHERE answer IS NULL;
CREATE TABLE events (n bigserial PRIMARY KEY, id text NOT NULL, at timestamptz NOT NULL DEFAULT now(), what text NOT NULL)`

const (
	postgresOpen = `WITH r AS (INSERT INTO requests (id, prompt, deadline) VALUES ($1, $2, $3) RETURNING id)
INSERT INTO events (id, what) SELECT id, 'request' FROM r`
	postgresDecide = `WITH won AS (UPDATE requests SET answer = $2 WHERE id = $1 AND answer IS NULL AND deadline > now() RETURNING id),
logged AS (INSERT INTO events (id, what) SELECT id, $2 FROM won)
SELECT pg_notify('answers', id || ' ' || $2) FROM won`
	postgresSweep = `WITH due AS (SELECT id FROM requests WHERE answer IS NULL AND deadline <= now() ORDER BY deadline LIMIT 500 FOR UPDATE SKIP LOCKED),
over AS (UPDATE requests r SET answer = 'expired' FROM due WHERE r.id = due.id RETURNING r.id),
logged AS (INSERT INTO events (id, what) SELECT id, 'expired' FROM over)
SELECT pg_notify('answers', id || ' expired') FROM over`
	postgresConnections = 16
)

func newPostgres(ctx context.Context, c config) (peer, error) {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, missing(program + " is not on the PATH")
		}
	}
	dir, err := os.MkdirTemp("", "peers-postgres-")
	if err != nil {
		return nil, err
	}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, "initdb", "-D", data, "-U", "nod", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = as, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	commit := "off" // PostgreSQL writes the log about every 200 ms
	if c.always {
		commit = "on"
	}
	cmd := exec.Command("postgres", "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", dir, "-c", "synchronous_commit="+commit)
	cmd.SysProcAttr, cmd.Dir = as, dir
	p := &postgresPeer{server: &process{cmd: cmd, dir: dir}}
	if err := p.server.start(); err != nil {
		return nil, err
	}
	if err := p.connect(ctx, fmt.Sprintf("postgres://nod@127.0.0.1:%d/postgres?sslmode=disable&pool_max_conns=%d", port, postgresConnections)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// unprivileged returns the attributes of a process that is not root, and gives
// it the directory, because PostgreSQL refuses to run as root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.Lookup("nobody"); err != nil {
			return nil, missing("PostgreSQL cannot run as root, and there is no user postgres or nobody")
		}
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(who.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, uid, gid)
}

func (p *postgresPeer) connect(ctx context.Context, url string) error {
	ctx, p.stop = context.WithCancel(ctx)
	var listens *pgx.Conn
	err := await(func() (err error) {
		listens, err = pgx.Connect(ctx, url[:strings.LastIndexByte(url, '&')])
		return err
	})
	if err != nil {
		return err
	}
	if _, err := listens.Exec(ctx, postgresSchema); err != nil {
		return err
	}
	if _, err := listens.Exec(ctx, "LISTEN answers"); err != nil {
		return err
	}
	go func() {
		for {
			n, err := listens.WaitForNotification(ctx)
			if err != nil {
				return
			}
			id, answer, _ := strings.Cut(n.Payload, " ")
			p.tell(id, answer)
		}
	}()
	if p.asks, err = pgxpool.New(ctx, url); err != nil {
		return err
	}
	p.acts, err = pgxpool.New(ctx, url)
	return err
}

func (p *postgresPeer) open(ctx context.Context, id string, deadline time.Time) (<-chan string, error) {
	told := p.add(id)
	_, err := p.asks.Exec(ctx, postgresOpen, id, prompt, deadline)
	return told, err
}

func (p *postgresPeer) decide(ctx context.Context, id, answer string) (bool, error) {
	done, err := p.acts.Exec(ctx, postgresDecide, id, answer)
	return err == nil && done.RowsAffected() == 1, err
}

func (p *postgresPeer) sweep(ctx context.Context) (int, error) {
	done, err := p.acts.Exec(ctx, postgresSweep)
	return int(done.RowsAffected()), err
}

func (p *postgresPeer) close() {
	if p.stop != nil {
		p.stop()
	}
	for _, pool := range []*pgxpool.Pool{p.asks, p.acts} {
		if pool != nil {
			pool.Close()
		}
	}
	p.server.stop()
}
