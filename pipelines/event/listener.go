package event

// Listener has a callback for each record; nil callbacks are skipped.
type Listener struct {
	UpdateChanged func(UpdateChanged)
	FlowChanged   func(FlowChanged)
	FlowProgress  func(FlowProgress)
	Note          func(Note)
}

func call[T any](f func(T), e T) {
	if f != nil {
		f(e)
	}
}

// OnUpdate hands e to the listener.
func (l Listener) OnUpdate(e UpdateChanged) { call(l.UpdateChanged, e) }

// OnFlow hands e to the listener.
func (l Listener) OnFlow(e FlowChanged) { call(l.FlowChanged, e) }

// OnProgress hands e to the listener.
func (l Listener) OnProgress(e FlowProgress) { call(l.FlowProgress, e) }

// OnNote hands e to the listener.
func (l Listener) OnNote(e Note) { call(l.Note, e) }

// Tee hands each record to all listeners, in order.
func Tee(ls ...Listener) Listener {
	return Listener{
		UpdateChanged: func(e UpdateChanged) {
			for _, l := range ls {
				l.OnUpdate(e)
			}
		},
		FlowChanged: func(e FlowChanged) {
			for _, l := range ls {
				l.OnFlow(e)
			}
		},
		FlowProgress: func(e FlowProgress) {
			for _, l := range ls {
				l.OnProgress(e)
			}
		},
		Note: func(e Note) {
			for _, l := range ls {
				l.OnNote(e)
			}
		},
	}
}
