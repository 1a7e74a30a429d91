// Package fault wraps a store so that its calls fail, wait, tear or end the
// process, as a small script says. It is for tests and for the kill matrix.
//
// Reading order: Parse (the script's language), Script, New.
//
// A script has one rule a line; '#' starts a comment. A rule is
//
//	WHEN [key GLOB] [nth N | from N | every N] : ACTION
//
// WHEN is a comma-separated list of get, open, read, stat, list, put, absent
// (put if absent), create, write, commit, delete, or of names of crash points
// that the program announces with Script.At; '*' matches all store calls.
// GLOB is matched against the whole key; '*' matches any text, slashes too.
// nth, from and every count the calls that the rest of the rule matches; the
// first is 1, and a rule without a count acts always. ACTION is one of
//
//	error [permanent|retryable|corrupt] [TEXT]   fails without doing anything
//	after [permanent|retryable|corrupt] [TEXT]   does it, then says it failed
//	full                                         fails with ErrFull
//	wait DURATION                                sleeps, then does it
//	torn N                                       stores or reads only N bytes,
//	                                             then fails
//	crash                                        calls Script.Crash before it
//	crash-after                                  calls Script.Crash after it
//
// The first rule that acts decides. Counting is exact under concurrency. When
// Script.Crash returns, every later call fails with ErrCrashed, so a crash can
// be played without ending the process.
package fault
