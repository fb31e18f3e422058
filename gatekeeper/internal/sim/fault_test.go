package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// faultOrder returns the members, leader first, in the order that the indexes in a fault refer to.
func (w *world) faultOrder() []*member {
	leader := w.serverLog.leader()
	order := make([]*member, 0, len(w.members))
	for _, m := range w.members {
		if m.id == leader {
			order = append(order, m)
		}
	}
	for _, m := range w.members {
		if m.id != leader {
			order = append(order, m)
		}
	}
	return order
}

// injectFault applies a fault and undoes it after its duration.
func (w *world) injectFault(f fault) {
	order := w.faultOrder()
	m, other := order[f.first], order[f.second]
	w.history.Put(history.Entry{Fault: &history.Fault{At: w.now(), Kind: fmt.Sprintf("%s for %v, severe %v", f.kind, f.duration, f.severe), On: m.id + " " + other.id}})
	w.paths.inc("fault: " + path(f.kind))
	heal := w.apply(f, m, other)
	if heal == nil {
		return
	}
	advance(f.duration)
	heal()
}

// apply applies a fault and returns a function that undoes it, or nil if there is nothing to undo.
func (w *world) apply(f fault, m, other *member) (heal func()) {
	switch f.kind {
	case crash:
		m.crash(!f.severe)
		return func() { w.must(m.start()) }
	case crashAll:
		for _, each := range w.members {
			w.net.kill(each.machine(), true)
		}
		for _, each := range w.members {
			each.crash(true)
		}
		return func() {
			for _, each := range w.members {
				w.must(each.start())
			}
		}
	case stop:
		m.stop()
		return func() { w.must(m.start()) }
	case isolate:
		return w.net.cut(w.links(m, f.severe, true, true))
	case oneWay:
		return w.net.cut(w.links(m, true, !f.severe, f.severe))
	case bridge:
		return w.net.cut([]link{{m.id, other.id}, {other.id, m.id}})
	case slow:
		return w.net.degrade(w.links(m, true, false, true), f.duration/8, 0)
	case lossy:
		var links []link
		for _, each := range w.members {
			links = append(links, w.links(each, true, true, true)...)
		}
		return w.net.degrade(links, 0, 0.3)
	case pause:
		resumeDisk, resume := m.disk.stall(), w.net.pause(m.machine())
		return func() { resumeDisk(); resume() }
	case stall:
		if !f.severe {
			return m.disk.stall()
		}
		var all []func()
		for _, each := range w.members {
			all = append(all, each.disk.stall())
		}
		return func() {
			for _, resumeDisk := range all {
				resumeDisk()
			}
		}
	case hang:
		w.hang(m)
	case transfer:
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_, _ = w.operator.client.Cluster().TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{}) // may fail because of other faults
	case reset:
		for _, each := range w.members {
			w.net.reset(m.id, each.id)
		}
		for i := range machines {
			w.net.reset(m.id, machine(i))
		}
	case clientCut:
		from := machine(f.second % machines)
		var links []link
		for _, each := range w.members {
			links = append(links, link{each.id, from})
			if !f.severe {
				links = append(links, link{from, each.id})
			}
		}
		return w.net.cut(links)
	case clientCrash:
		w.programs[f.second%machines].crash()
	}
	return nil
}

// hang stalls a disk until its server gives up and stops, and then starts a new server on the disk.
func (w *world) hang(m *member) {
	server, resumeDisk := m.running(), m.disk.stall()
	if server != nil {
		select {
		case <-server.Done():
			w.paths.inc(stoppedItself)
		case <-time.After(30 * time.Second): // the server has nothing to write, or was stopped in the meantime
		}
	}
	resumeDisk()
	m.stop()
	w.must(m.start())
}

// links returns the links on which a member receives from or sends to the other members and, optionally, the clients.
func (w *world) links(m *member, clients, receives, sends bool) (links []link) {
	add := func(other string) {
		if receives {
			links = append(links, link{other, m.id})
		}
		if sends {
			links = append(links, link{m.id, other})
		}
	}
	for _, other := range w.members {
		if other != m {
			add(other.id)
		}
	}
	if clients {
		add("ops")
		for i := range machines {
			add(machine(i))
		}
	}
	return links
}
