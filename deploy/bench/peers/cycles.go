package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// decideAfter is the delay between opening and deciding. After this delay, the
// caller is waiting. nod uses the same delay.
const decideAfter = 2 * time.Millisecond

// cycles returns the number of requests per second that the callers complete.
func cycles(ctx context.Context, p peer, callers int, span time.Duration) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done atomic.Int64
	var over atomic.Bool
	failed := make(chan error, callers)
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			for k := 0; !over.Load(); k++ {
				if err := cycle(ctx, p, name(n, k)); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	for done.Load() < int64(callers) && len(failed) == 0 { // warm-up
		time.Sleep(decideAfter)
	}
	first, began := done.Load(), time.Now()
	for time.Sleep(span); done.Load() == first && len(failed) == 0; { // the machine is slow
		time.Sleep(decideAfter)
	}
	n, took := done.Load()-first, time.Since(began)
	over.Store(true)
	wg.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(n) / took.Seconds(), nil
	}
}

// name returns an ID that no other run of the program uses.
func name(caller, k int) string { return fmt.Sprintf("%d-%d-%d", os.Getpid(), caller, k) }

// cycle opens a request, decides it, and waits for the answer.
func cycle(ctx context.Context, p peer, id string) error {
	answer, err := p.open(ctx, id, time.Now().Add(10*time.Minute))
	if err != nil {
		return err
	}
	decided := make(chan error, 1)
	time.AfterFunc(decideAfter, func() {
		won, err := p.decide(ctx, id, "yes")
		if err == nil && !won {
			err = errors.New("the only decision did not win")
		}
		decided <- err
	})
	if err := <-decided; err != nil {
		return err
	}
	select {
	case got := <-answer:
		if got != "yes" {
			return errors.New("the answer is " + strconv.Quote(got))
		}
		return nil
	case <-time.After(time.Minute):
		return errors.New("a caller got no answer")
	}
}

// sweeper is a peer that ends requests at their deadlines.
type sweeper interface {
	peer
	// sweep ends all requests whose deadline has passed, and returns their
	// number.
	sweep(ctx context.Context) (int, error)
}

// ends returns the time in seconds from a deadline that n requests share until
// every caller has its answer.
func ends(ctx context.Context, p sweeper, n int) (float64, error) {
	const openers = 16
	due := time.Now().Add(time.Second + time.Duration(n)*time.Millisecond)
	answers := make([]<-chan string, n)
	errs := make(chan error, openers)
	var wg sync.WaitGroup
	for o := range openers {
		wg.Go(func() {
			for k := o; k < n; k += openers {
				answer, err := p.open(ctx, name(0, k), due)
				if err != nil {
					errs <- err
					return
				}
				answers[k] = answer
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return 0, err
	default:
	}
	if left := time.Until(due); left > 0 {
		time.Sleep(left)
	} else {
		return 0, errors.New("the requests were not open before their deadline")
	}
	for over := 0; over < n; {
		ended, err := p.sweep(ctx)
		if err != nil {
			return 0, err
		}
		over += ended
	}
	for _, answer := range answers {
		if got := <-answer; got != "expired" {
			return 0, errors.New("a request ended " + strconv.Quote(got))
		}
	}
	return time.Since(due).Seconds(), nil
}

// waiting passes answers to the callers.
type waiting struct{ callers sync.Map } // ID to chan string

func (w *waiting) add(id string) <-chan string {
	told := make(chan string, 1)
	w.callers.Store(id, told)
	return told
}

func (w *waiting) tell(id, answer string) {
	if told, ok := w.callers.LoadAndDelete(id); ok {
		told.(chan string) <- answer
	}
}
