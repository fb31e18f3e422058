package lessor

import "sync"

// intake counts the frames that have been received and whose deadlines have not been moved yet. Waiting for those that
// were open at one moment does not hold back those that come after it.
type intake struct {
	mu  sync.Mutex // guards now, and the fields of every generation
	now *generation
}

// generation is the frames that were received between two fences.
type generation struct {
	open   int
	sealed bool
	empty  chan struct{} // closed when it is sealed and nothing is open any more
}

func newGeneration() *generation { return &generation{empty: make(chan struct{})} }

// enter opens the intake for one frame; leave closes it again, and does nothing when it is called once more.
func (in *intake) enter() (leave func()) {
	in.mu.Lock()
	g := in.now
	g.open++
	in.mu.Unlock()
	left := false
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if !left {
			left = true
			g.open--
			g.settle()
		}
	}
}

// fence returns when every frame that was received before has left.
func (in *intake) fence() {
	in.mu.Lock()
	g := in.now
	in.now = newGeneration()
	g.sealed = true
	g.settle()
	in.mu.Unlock()
	<-g.empty
}

func (g *generation) settle() {
	if g.sealed && g.open == 0 {
		close(g.empty)
	}
}
