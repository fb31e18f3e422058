package lessor

import "sync"

// intake counts the frames that have been received but whose deadlines have not been extended yet. Waiting for the
// frames that are currently open does not delay later ones.
type intake struct {
	mu      sync.Mutex // guards current and the fields of every generation
	current *generation
}

// generation counts the frames received between two fences.
type generation struct {
	open   int
	sealed bool
	empty  chan struct{} // closed once the generation is sealed and no frame is open
}

func newGeneration() *generation { return &generation{empty: make(chan struct{})} }

// enter opens the intake for one frame. leave closes it, and does nothing when called again.
func (in *intake) enter() (leave func()) {
	in.mu.Lock()
	g := in.current
	g.open++
	in.mu.Unlock()
	left := false
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if !left {
			left = true
			g.open--
			g.closeIfEmpty()
		}
	}
}

// fence waits until all frames received before the call have left.
func (in *intake) fence() {
	in.mu.Lock()
	g := in.current
	in.current = newGeneration()
	g.sealed = true
	g.closeIfEmpty()
	in.mu.Unlock()
	<-g.empty
}

func (g *generation) closeIfEmpty() {
	if g.sealed && g.open == 0 {
		close(g.empty)
	}
}
