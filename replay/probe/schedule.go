package probe

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A task is a case to be played in one dialect.
type task struct {
	c *Case
	d dialect.Dialect
}

// play plays the cases. Those that watch processes or measure time run alone, after the
// others.
func (r *Runner) play(ctx context.Context) {
	var crowd, alone []task
	for _, c := range r.Cases {
		for _, d := range c.For {
			if r.met[d] == nil {
				continue
			}
			if c.Alone {
				alone = append(alone, task{c, d})
			} else {
				crowd = append(crowd, task{c, d})
			}
		}
	}
	results := map[task]*Result{}
	again := r.several(ctx, crowd, cmp.Or(r.Jobs, 2), results, nil)
	slow := map[task]bool{}
	for _, t := range again {
		slow[t] = true
	}
	r.several(ctx, append(alone, again...), 1, results, slow)
	for _, c := range r.Cases {
		r.report.Results = append(r.report.Results, r.resultsOf(c, results)...)
	}
	for i := range r.report.Results {
		res := &r.report.Results[i]
		res.New = r.AsOf != "" && res.Case.Since > r.AsOf
		res.accuse(r.Kind)
	}
	r.report.group()
}

// resultsOf returns the results of a case, at least one if the case is for a wanted dialect.
func (r *Runner) resultsOf(c *Case, results map[task]*Result) (all []Result) {
	var unspoken []dialect.Dialect
	for _, d := range c.For {
		switch res := results[task{c, d}]; {
		case res != nil:
			all = append(all, *res)
		case r.met[d] != nil: // the run was interrupted
			all = append(all, without(c, d, NotTried, "interrupted"))
		case len(r.Dialects) == 0 || slices.Contains(r.Dialects, d):
			unspoken = append(unspoken, d)
		}
	}
	if len(all) == 0 && len(unspoken) > 0 {
		all = append(all, without(c, unspoken[0], NotOffered, "it does not speak "+dialectList(unspoken)))
	}
	return all
}

// without returns the result of a case that was not played.
func without(c *Case, d dialect.Dialect, o Outcome, why string) Result {
	res := Result{Case: c, Dialect: d, Outcome: o, Got: why, Runs: 1, Times: 1}
	res.public.got = why
	return res
}

// several plays n tasks in parallel. Unless n is 1, it returns the tasks that timed out, which
// the caller must retry alone. slow holds the tasks that are retries.
func (r *Runner) several(ctx context.Context, tasks []task, n int, results map[task]*Result, slow map[task]bool) (again []task) {
	queue := make(chan task)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			for t := range queue {
				res, late := r.one(ctx, t)
				r.mu.Lock()
				if late && n > 1 {
					again = append(again, t)
				} else {
					res.Slow = slow[t]
					results[t] = res
					if r.Done != nil {
						r.Done(res)
					}
				}
				r.mu.Unlock()
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	workers.Wait()
	slices.SortFunc(again, func(a, b task) int { return cmp.Or(cmp.Compare(a.c.ID, b.c.ID), cmp.Compare(a.d, b.d)) })
	return again
}

// one plays a case Case.Repeat times and returns the worst result. late reports whether a
// timeout decided it.
func (r *Runner) one(ctx context.Context, t task) (worst *Result, late bool) {
	began := time.Now()
	if why, offered := r.lacks(t); why != "" {
		res := without(t.c, t.d, NotTried, why)
		if !offered {
			res.Outcome = NotOffered
		}
		return &res, false
	}
	counts := map[Outcome]int{}
	for range t.c.Repeat {
		res, isLate := r.once(ctx, t)
		counts[res.Outcome]++
		late = late || isLate
		if worst == nil || res.Outcome > worst.Outcome {
			worst = res
		}
		if ctx.Err() != nil {
			break
		}
	}
	worst.Runs, worst.Times = t.c.Repeat, counts[worst.Outcome]
	worst.Seconds = time.Since(began).Seconds()
	return worst, late
}
