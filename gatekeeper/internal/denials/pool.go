package denials

import (
	"container/list"
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// pool holds a bounded number of buckets. When it is full, the least recently used bucket is dropped.
type pool struct {
	shelves map[shelfKey]*list.Element // values are *bucket
	order   list.List                  // most recently used first
	count   int                        // number of denials
}

// shelfKey identifies either a semaphore, or a group and an acquirer.
type shelfKey struct{ semaphore, group, acquirer string }

func bySemaphore(req *semaphore.Request) shelfKey { return shelfKey{semaphore: req.Semaphore} }

func byCaller(req *semaphore.Request) shelfKey {
	return shelfKey{group: req.Identity.Group, acquirer: req.Identity.Acquirer}
}

// shelf holds the denials of one key.
type shelf struct {
	key     shelfKey
	denials []Denial
}

// asks returns a predicate that reports whether a denial has the same semaphore, group and acquirer as req. It ignores
// holder ids, which differ from one acquisition to the next.
func asks(req *semaphore.Request) func(Denial) bool {
	return func(d Denial) bool {
		return d.Semaphore == req.Semaphore && d.Identity.Group == req.Identity.Group && d.Identity.Acquirer == req.Identity.Acquirer
	}
}

// of returns the denials for a semaphore, in a pool keyed by semaphore.
func (p *pool) of(name string) []Denial {
	if at := p.shelves[shelfKey{semaphore: name}]; at != nil {
		return at.Value.(*shelf).denials
	}
	return nil
}

// find returns the denial of a request's caller, or nil. It counts as a use of the bucket.
func (p *pool) find(key shelfKey, req *semaphore.Request) *Denial {
	at := p.shelves[key]
	if at == nil {
		return nil
	}
	s := at.Value.(*shelf)
	i := slices.IndexFunc(s.denials, asks(req))
	if i < 0 {
		return nil
	}
	p.order.MoveToFront(at)
	return &s.denials[i]
}

// add returns an empty denial for the caller to fill in. It evicts older denials if necessary; limit is the maximum
// number of buckets.
func (p *pool) add(key shelfKey, most int) *Denial {
	at := p.shelves[key]
	if at == nil {
		if p.shelves == nil {
			p.shelves = make(map[shelfKey]*list.Element)
		}
		if len(p.shelves) >= most {
			p.drop(p.order.Back())
		}
		at = p.order.PushFront(&shelf{key: key})
		p.shelves[key] = at
	}
	p.order.MoveToFront(at)
	s := at.Value.(*shelf)
	if len(s.denials) >= maxPerShelf {
		oldest := 0
		for i := range s.denials {
			if s.denials[i].Last.Before(s.denials[oldest].Last) {
				oldest = i
			}
		}
		s.denials[oldest] = Denial{}
		return &s.denials[oldest]
	}
	p.count++
	s.denials = append(s.denials, Denial{})
	return &s.denials[len(s.denials)-1]
}

// remove drops the denial of a request's caller.
func (p *pool) remove(key shelfKey, req *semaphore.Request) {
	at := p.shelves[key]
	if at == nil {
		return
	}
	s := at.Value.(*shelf)
	n := len(s.denials)
	s.denials = slices.DeleteFunc(s.denials, asks(req))
	p.count -= n - len(s.denials)
	if len(s.denials) == 0 {
		p.drop(at)
	}
}

func (p *pool) drop(at *list.Element) {
	s := p.order.Remove(at).(*shelf)
	delete(p.shelves, s.key)
	p.count -= len(s.denials)
}

// all returns a copy of all denials.
func (p *pool) all() []Denial {
	all := make([]Denial, 0, p.count)
	for at := p.order.Front(); at != nil; at = at.Next() {
		all = append(all, at.Value.(*shelf).denials...)
	}
	return all
}
