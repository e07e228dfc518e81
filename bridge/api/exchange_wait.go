package api

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// waited is a request of a message whose caller waits.
type waited struct {
	id      bridge.ID
	cancels bool // CancelOnDisconnect
}

// answerDialect waits for the requests of a message and responds. If rescue is
// not nil, it may respond to an error instead.
func (s exchanges) answerDialect(
	w http.ResponseWriter, r *http.Request, t dialect.Translation, all []waited, wait time.Duration, rescue rescue,
) error {
	acknowledged := r.URL.Query().Get(acknowledges) == "true"
	waitAll := func(here, ctx context.Context) answer {
		records, answers, err := s.awaitAll(here, ctx, t, all)
		if here.Err() != nil {
			for _, x := range all {
				s.abandoned(x.id, x.cancels, r.Header.Get(callerHeader))
			}
			return nil
		}
		return func(ctx context.Context, w http.ResponseWriter) error {
			if err == nil && len(answers) < len(all) {
				return write(w, http.StatusAccepted, bridge.List{Items: records})
			}
			if err == nil {
				err = s.proveAnswer(ctx, w, t, records, answers, r.Header.Get(callerHeader), acknowledged)
			}
			if err != nil && rescue != nil {
				err = rescue(w, err)
			}
			return err
		}
	}
	return s.wait(w, r, wait, func(here, ctx context.Context, done func(func() answer)) {
		go done(func() answer { return waitAll(here, ctx) })
	})
}

// awaitAll waits for the requests of a message, and returns their records and
// their answers. If the wait is over first, it returns fewer answers.
func (s exchanges) awaitAll(
	here, ctx context.Context, t dialect.Translation, all []waited,
) ([]bridge.Record, []any, error) {
	var records []bridge.Record
	var answers []any
	for n, x := range all {
		rec, err := s.engine.Await(ctx, x.id)
		if here.Err() != nil {
			return nil, nil, here.Err()
		}
		if err != nil && ctx.Err() != nil {
			rec, err = s.readNow(here, x.id) // the request may have closed at the end of the wait
		}
		if err == nil && !rec.State.Final() {
			records, err = s.readRest(here, records, all)
			return records, answers, err
		}
		if err != nil {
			return nil, nil, err
		}
		a, err := t.Exchanges[n].Answer(*rec)
		if err != nil {
			return nil, nil, ended(err)
		}
		records, answers = append(records, *rec), append(answers, a)
	}
	return records, answers, nil
}

// readRest appends the missing records of the requests.
func (s exchanges) readRest(ctx context.Context, records []bridge.Record, all []waited) ([]bridge.Record, error) {
	for _, x := range all[len(records):] {
		rec, err := s.readNow(ctx, x.id)
		if err != nil {
			return nil, err
		}
		records = append(records, *rec)
	}
	return records, nil
}
