package denials

import (
	"container/list"
	"slices"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// pool holds a bounded number of buckets. When it is full, the least recently used bucket is dropped.
type pool struct {
	buckets map[bucketKey]*list.Element // values are *bucket
	order   list.List                   // most recently used first
	count   int                         // number of denials
}

// bucketKey identifies either a semaphore, or a group and an acquirer.
type bucketKey struct{ semaphore, group, acquirer string }

func bySemaphore(req *semaphore.Request) bucketKey { return bucketKey{semaphore: req.Semaphore} }

func byCaller(req *semaphore.Request) bucketKey {
	return bucketKey{group: req.Identity.Group, acquirer: req.Identity.Acquirer}
}

// bucket holds the denials for one key.
type bucket struct {
	key     bucketKey
	denials []Denial
}

// sameCaller returns a predicate that reports whether a denial has the same semaphore, group and acquirer as req. It
// ignores holder ids, which differ from one acquisition to the next.
func sameCaller(req *semaphore.Request) func(Denial) bool {
	return func(d Denial) bool {
		return d.Semaphore == req.Semaphore && d.Identity.Group == req.Identity.Group && d.Identity.Acquirer == req.Identity.Acquirer
	}
}

// get returns the denials for a semaphore, in a pool keyed by semaphore.
func (p *pool) get(name string) []Denial {
	if elem := p.buckets[bucketKey{semaphore: name}]; elem != nil {
		return elem.Value.(*bucket).denials
	}
	return nil
}

// find returns the denial for a request's semaphore and caller, or nil. It counts as a use of the bucket.
func (p *pool) find(key bucketKey, req *semaphore.Request) *Denial {
	elem := p.buckets[key]
	if elem == nil {
		return nil
	}
	s := elem.Value.(*bucket)
	i := slices.IndexFunc(s.denials, sameCaller(req))
	if i < 0 {
		return nil
	}
	p.order.MoveToFront(elem)
	return &s.denials[i]
}

// add returns an empty denial for the caller to fill in. It evicts older denials if necessary; limit is the maximum
// number of buckets.
func (p *pool) add(key bucketKey, limit int) *Denial {
	elem := p.buckets[key]
	if elem == nil {
		if p.buckets == nil {
			p.buckets = make(map[bucketKey]*list.Element)
		}
		if len(p.buckets) >= limit {
			p.drop(p.order.Back())
		}
		elem = p.order.PushFront(&bucket{key: key})
		p.buckets[key] = elem
	}
	p.order.MoveToFront(elem)
	s := elem.Value.(*bucket)
	if len(s.denials) >= maxPerBucket {
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

// remove drops the denial for a request's semaphore and caller.
func (p *pool) remove(key bucketKey, req *semaphore.Request) {
	elem := p.buckets[key]
	if elem == nil {
		return
	}
	s := elem.Value.(*bucket)
	n := len(s.denials)
	s.denials = slices.DeleteFunc(s.denials, sameCaller(req))
	p.count -= n - len(s.denials)
	if len(s.denials) == 0 {
		p.drop(elem)
	}
}

func (p *pool) drop(elem *list.Element) {
	s := p.order.Remove(elem).(*bucket)
	delete(p.buckets, s.key)
	p.count -= len(s.denials)
}

// all returns a copy of all denials.
func (p *pool) all() []Denial {
	all := make([]Denial, 0, p.count)
	for elem := p.order.Front(); elem != nil; elem = elem.Next() {
		all = append(all, elem.Value.(*bucket).denials...)
	}
	return all
}
