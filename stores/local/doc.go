// Package local is the store over a folder of the local file system.
//
// Reading order: Open, Store, then publish.go (how an object becomes visible)
// and probe.go (which folders are refused).
//
// A new object is written to a temporary file under the root's .tmp folder,
// synced, and then published in one step: rename for Put and Upload.Commit,
// link (or a rename that does not replace) for PutIfAbsent. The folder that
// gained the name is synced before the call returns, and so are folders that
// had to be made. A crash therefore leaves the old object, the new one, or
// nothing, never a part. Temporary files of processes that died are removed
// at the next Open: each is locked (flock) by its writer while it lives.
//
// Keys are used as paths as they are: whoever makes keys escapes them.
// Everything under .tmp is invisible. Symbolic links to files and folders are
// followed, loops are not. All methods are safe for concurrent use, also by
// several processes.
package local
