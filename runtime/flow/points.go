package flow

// The borders of an epoch at which Options.At and BoundedOptions.At are
// called, in the order in which a run comes to them.
const (
	RecoverBegin    = "recover.begin"    // nothing was read yet
	RecoverCleaned  = "recover.cleaned"  // what crashed attempts staged is gone
	RecoverFinished = "recover.finished" // the sink took the prepared epoch
	PlanBefore      = "plan.before"      // the sources were listed
	PlanAfter       = "plan.after"       // the range is known, not written
	IntentAfter     = "intent.after"     // the intent is durable
	BeginAfter      = "begin.after"      // the sink's epoch is open
	ReadSplit       = "read.split"       // a split was read (each lane)
	ReadAfter       = "read.after"       // all rows were pushed
	StepAfter       = "step.after"       // state was closed and emitted
	StageAfter      = "stage.after"      // the sink's rows are durable
	StateAfter      = "state.after"      // the state's files are durable
	PreparedAfter   = "prepared.after"   // the prepared epoch is durable
	CommitAfter     = "commit.after"     // the sink committed
	MarkBefore      = "mark.before"      // the run ends, its last mark is open
	MarkAfter       = "mark.after"       // all marks are durable
	ForgetAfter     = "forget.after"     // a source gave up what is committed
	ViewBegin       = "view.begin"       // a view's sink epoch is open
	ViewRead        = "view.read"        // its query has run
	ViewStaged      = "view.staged"      // its rows are durable
	ViewCommitted   = "view.committed"   // its table shows them
	recoverPrefix   = "recover."         // with each action of checkpoint.Decide
)
