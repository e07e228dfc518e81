package brokertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// reclaim waits until a job can be claimed again, and returns it.
func reclaim(t *testing.T, s broker.Store, name string) (got broker.Job) {
	t.Helper()
	await.Until(t, name+" can be claimed", func() bool {
		for _, j := range claim(t, s, 10, time.Hour) {
			if j.Name != name {
				t.Fatalf("%s was claimed", j.Name)
			}
			got = j
		}
		return got.Name != ""
	})
	return got
}

var jobs = tests{
	"due jobs": func(t *testing.T, s broker.Store) {
		if all, next, err := s.Claim(t.Context(), 5, time.Minute); len(all) != 0 || next != -1 || err != nil {
			t.Errorf("without jobs: %v, next job in %s, error %v", all, next, err)
		}
		request(t, s, job("second", time.Minute), job("first", time.Hour), job("third", time.Second), job("later", -time.Hour))
		if n, dead, lag, err := s.Work(t.Context()); n != 4 || dead != 0 || err != nil || lag < time.Hour || lag > time.Hour+time.Minute {
			t.Errorf("%d jobs, %d dead letters, lag %s, error %v", n, dead, lag, err)
		}
		all, next, err := s.Claim(t.Context(), 2, time.Minute)
		if err != nil || len(all) != 2 || all[0].Name != "first" || all[1].Name != "second" || next > 0 {
			t.Errorf("first claim: %+v, next job in %s, error %v", all, next, err)
		}
		if all[0].Attempt != 1 || all[0].Generation < 1 || all[0].Fence == 0 || all[0].Began.IsZero() {
			t.Errorf("the first job is %+v", all[0])
		}
		all, next, err = s.Claim(t.Context(), 5, time.Hour)
		if err != nil || len(all) != 1 || all[0].Name != "third" || next <= 0 || next > time.Minute {
			t.Errorf("second claim: %+v, next job in %s, error %v", all, next, err)
		}
		if all = claim(t, s, 5, time.Minute); len(all) != 0 {
			t.Errorf("leased jobs were claimed again: %+v", all)
		}
	},
	"levels": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", -time.Hour), job("b", -time.Hour), job("c", time.Minute), job("d", time.Minute))
		exact := func(j broker.Job) broker.Job { j.Exact = true; return j }
		request(t, s, job("a", time.Minute), exact(job("b", time.Minute)), job("c", -time.Hour), exact(job("d", -time.Hour)))
		for _, name := range []string{"a", "b", "c"} {
			request(t, s, exact(job(name, map[string]time.Duration{"a": 3, "b": 2, "c": 1}[name]*time.Minute)))
		}
		claims(t, s, "a", "b", "c")
		if n, _, _, _ := s.Work(t.Context()); n != 4 {
			t.Errorf("%d jobs", n)
		}
	},
	"requested while worked on": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute))
		j := claims(t, s, "a")[0]
		request(t, s, job("a", time.Hour), broker.Job{Name: "a", Due: time.Now().Add(time.Hour), Exact: true})
		claims(t, s)
		release(t, s, j, broker.Release{Done: true}, broker.Requested)
		next := claims(t, s, "a")[0]
		if next.Attempt != 1 || next.Generation == j.Generation || next.Fence == j.Fence {
			t.Errorf("claimed %+v after %+v", next, j)
		}
		release(t, s, next, broker.Release{Done: true}, broker.Applied)
		release(t, s, next, broker.Release{Done: true}, broker.Lost)
		claims(t, s)
	},
	"attempts": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute))
		j := claims(t, s, "a")[0]
		release(t, s, j, broker.Release{Again: time.Hour}, broker.Applied)
		request(t, s, job("a", time.Minute)) // a request does not shorten the back-off
		claims(t, s)
		request(t, s, job("b", time.Minute))
		for want := 1; want <= 3; want++ {
			if j = reclaim(t, s, "b"); j.Attempt != want {
				t.Fatalf("want attempt %d, got %d", want, j.Attempt)
			}
			release(t, s, j, broker.Release{Again: time.Microsecond}, broker.Applied)
		}
	},
	"waits that do not count": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute))
		for range 3 {
			j := reclaim(t, s, "a")
			if j.Attempt != 1 {
				t.Fatalf("got attempt %d", j.Attempt)
			}
			release(t, s, j, broker.Release{Again: time.Millisecond, Free: true}, broker.Applied)
		}
		j := reclaim(t, s, "a")
		release(t, s, j, broker.Release{Again: time.Hour, Free: true}, broker.Applied)
		request(t, s, job("a", time.Minute)) // no attempt has failed, so it is due sooner
		claims(t, s, "a")
	},
	"leases": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute), job("b", time.Minute))
		all := claim(t, s, 2, time.Second)
		release(t, s, all[0], broker.Release{Extend: time.Hour}, broker.Applied)
		again := reclaim(t, s, "b") // a was extended
		if again.Attempt != 2 || again.Fence == all[1].Fence {
			t.Errorf("claimed %+v after %+v", again, all[1])
		}
		for _, how := range []broker.Release{{Done: true}, {Dead: []byte("x")}, {Again: time.Millisecond}, {Extend: time.Millisecond}} {
			release(t, s, all[1], how, broker.Lost)
		}
		release(t, s, again, broker.Release{Done: true}, broker.Applied)
		release(t, s, all[0], broker.Release{Done: true}, broker.Applied)
		if n, dead, _, err := s.Work(t.Context()); n != 0 || dead != 0 || err != nil {
			t.Errorf("%d jobs, %d dead letters, error %v", n, dead, err)
		}
	},
	"first leases": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute), job("b", time.Second))
		first := claim(t, s, 1, time.Hour)[0]
		release(t, s, first, broker.Release{Again: time.Millisecond}, broker.Applied)
		now := s.Now()
		await.Until(t, "time passes", func() bool { return s.Now().After(now.Add(10 * time.Millisecond)) })
		for _, j := range claim(t, s, 2, time.Hour) {
			if same := j.Began.Equal(first.Began); same != (j.Name == "a") || !same && !j.Began.After(first.Began) {
				t.Errorf("%s was leased first at %s, and a at %s", j.Name, j.Began, first.Began)
			}
		}
	},
	"stale workers": func(t *testing.T, s broker.Store) {
		var former []broker.Job
		end := map[string]func(broker.Job){
			"done":      func(j broker.Job) { release(t, s, j, broker.Release{Done: true}, broker.Applied) },
			"withdrawn": func(broker.Job) { do(t, s, broker.Change{Withdraw: []string{"a"}}) },
			"dead":      func(j broker.Job) { release(t, s, j, broker.Release{Dead: []byte("x")}, broker.Applied) },
		}
		for _, how := range []string{"done", "withdrawn", "dead", "done"} {
			request(t, s, job("a", time.Minute))
			j := claims(t, s, "a")[0]
			for _, f := range former {
				release(t, s, f, broker.Release{Done: true}, broker.Lost)
			}
			end[how](j)
			former = append(former, j)
			await.Until(t, "time passes", func() bool { return s.Now().After(j.Began.Add(2 * time.Millisecond)) })
		}
		claims(t, s)
		if _, dead, _, err := s.Work(t.Context()); dead != 1 || err != nil {
			t.Errorf("%d dead letters, error %v", dead, err)
		}
	},
	"withdrawn jobs": func(t *testing.T, s broker.Store) {
		request(t, s, job("a", time.Minute), job("b", time.Minute))
		j := claim(t, s, 1, time.Hour)[0]
		do(t, s, broker.Change{Withdraw: []string{"a", "b", "none"}})
		release(t, s, j, broker.Release{Again: time.Millisecond}, broker.Lost)
		if n, _, _, err := s.Work(t.Context()); n != 0 || err != nil {
			t.Errorf("%d jobs, error %v", n, err)
		}
		do(t, s, broker.Change{Withdraw: []string{"c"}, Request: []broker.Job{job("c", time.Minute)}}) // the withdrawal comes first
		claims(t, s, "c")
	},
	"workers at once": func(t *testing.T, s broker.Store) {
		for n := range 100 {
			request(t, s, job(fmt.Sprint("j", n), time.Minute))
		}
		var mu sync.Mutex
		seen := map[string]int{}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for {
					found, _, err := s.Claim(t.Context(), 7, time.Hour)
					if err != nil || len(found) == 0 {
						return
					}
					mu.Lock()
					for _, j := range found {
						seen[j.Name]++
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for name, n := range seen {
			if n != 1 {
				t.Errorf("%s was claimed %d times", name, n)
			}
		}
		if len(seen) != 100 {
			t.Errorf("%d jobs were claimed, want 100", len(seen))
		}
	},
}

var queues = tests{
	"order": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Hour), queued("3", "q", time.Second))
		request(t, s, queued("other", "p", time.Second), job("none", time.Millisecond))
		if n, _, _, err := s.Work(t.Context()); n != 5 || err != nil {
			t.Errorf("%d jobs, error %v", n, err)
		}
		j := claims(t, s, "1", "other", "none")[0]
		for _, next := range []string{"2", "3"} {
			claims(t, s)
			release(t, s, j, broker.Release{Done: true}, broker.Applied)
			j = claims(t, s, next)[0]
		}
		release(t, s, j, broker.Release{Dead: []byte("x")}, broker.Applied)
		request(t, s, queued("4", "q", time.Minute))
		claims(t, s, "4")
	},
	"times": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", -time.Hour), queued("3", "q", time.Minute))
		j := claims(t, s, "1")[0]
		release(t, s, j, broker.Release{Done: true}, broker.Applied)
		claims(t, s) // job 2 is not due, and job 3 waits behind it
		request(t, s, queued("2", "q", time.Minute))
		claims(t, s, "2")
	},
	"leaving and staying": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Minute), queued("3", "q", time.Minute))
		j := claims(t, s, "1")[0]
		release(t, s, j, broker.Release{Again: time.Hour, KeepsPlace: true}, broker.Applied)
		claims(t, s)
		request(t, s, queued("2", "q", time.Hour))
		claims(t, s)
		do(t, s, broker.Change{Withdraw: []string{j.Name}})
		j = claims(t, s, "2")[0]
		release(t, s, j, broker.Release{Again: time.Hour, Free: true}, broker.Applied)
		third := claims(t, s, "3")[0]
		request(t, s, queued("2", "q", time.Minute)) // job 2 has left its queue
		j = claims(t, s, "2")[0]
		request(t, s, queued("4", "q", time.Minute))
		release(t, s, third, broker.Release{Done: true, KeepsPlace: true}, broker.Applied) // KeepsPlace has no effect with Done
		claims(t, s, "4")
		release(t, s, j, broker.Release{Done: true}, broker.Applied)
	},
	"lost leases": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Minute))
		j := claim(t, s, 5, 50*time.Millisecond)[0]
		again := reclaim(t, s, broker.InQueue("1", "q"))
		release(t, s, j, broker.Release{Done: true}, broker.Lost)
		claims(t, s)
		release(t, s, again, broker.Release{Done: true}, broker.Applied)
		claims(t, s, "2")
	},
	"withdrawing": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Minute), queued("3", "q", time.Minute), queued("4", "q", time.Minute))
		do(t, s, broker.Change{Withdraw: []string{broker.InQueue("3", "q")}})
		do(t, s, broker.Change{Withdraw: []string{broker.InQueue("1", "q"), broker.InQueue("none", "q")}})
		j := claims(t, s, "2")[0]
		release(t, s, j, broker.Release{Done: true}, broker.Applied)
		claims(t, s, "4")
	},
	"requested again": func(t *testing.T, s broker.Store) {
		request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Minute))
		for range 3 {
			request(t, s, queued("1", "q", time.Minute), queued("2", "q", time.Minute))
		}
		j := claims(t, s, "1")[0]
		request(t, s, queued("1", "q", time.Minute))
		release(t, s, j, broker.Release{Done: true}, broker.Requested) // job 1 is no longer in the queue
		for _, j := range claims(t, s, "2", "1") {
			release(t, s, j, broker.Release{Done: true}, broker.Applied)
		}
		claims(t, s)
		if n, _, _, err := s.Work(t.Context()); n != 0 || err != nil {
			t.Errorf("%d jobs, error %v", n, err)
		}
	},
	"most": func(t *testing.T, s broker.Store) {
		for n := 0; n < broker.QueueMost+2; {
			var c broker.Change
			for range 683 {
				c.Request = append(c.Request, queued(fmt.Sprintf("%04d", n), "q", time.Hour-time.Duration(n)*time.Millisecond))
				if n++; n == broker.QueueMost+2 {
					break
				}
			}
			do(t, s, c)
		}
		all := claims(t, s, "0000", "4096", "4097") // jobs that exceed QueueMost do not wait
		release(t, s, all[0], broker.Release{Done: true}, broker.Applied)
		claims(t, s, "0001")
		release(t, s, all[1], broker.Release{Done: true}, broker.Applied)
		claims(t, s)
	},
}
