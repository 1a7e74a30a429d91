// Package storetest is the contract suite that every store must pass. It is
// imported by tests only.
//
// Reading order: Run, then one function a rule of the contract. A store's test
// calls Run with a function that makes an empty store; the suite makes many.
package storetest
