package pipelines

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// unknownMemory is assumed of machines that do not say.
const unknownMemory = 4 << 30

// MachineMemory returns the bytes that the process may use: the memory of the
// machine or the limit of its container, whatever is less.
func MachineMemory() int64 { return machineMemory(os.DirFS("/")) }

// machineMemory is the least of the machine's memory and the bounds of the
// control groups that the process is in.
func machineMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemTotal:" {
				if n, err := strconv.ParseInt(f[1], 10, 54); err == nil {
					least = n << 10
				}
			}
		}
	}
	for _, file := range groupFiles(root) {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		// "max" does not parse: no bound.
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			least = min(least, n)
		}
	}
	if least == math.MaxInt64 {
		return unknownMemory
	}
	return least
}

// groupFiles lists where bounds of the process' control groups can stand, in
// both versions, from the own group up.
func groupFiles(root fs.FS) []string {
	var out []string
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		base, name := "", ""
		switch {
		case f[1] == "":
			base, name = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+f[1]+",", ",memory,"):
			base, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for dir := path.Join("/", f[2]); ; dir = path.Dir(dir) {
			out = append(out, path.Join(base, dir, name))
			if dir == "/" {
				break
			}
		}
	}
	return out
}
