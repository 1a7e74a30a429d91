package pipelines

import (
	"testing"
	"testing/fstest"

	"pipelines/spec"
)

func TestMachineMemory(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	meminfo := text("MemFree: 1 kB\nMemTotal:       24684568 kB\n")
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nothing":   {fstest.MapFS{}, unknownMemory},
		"machine":   {fstest.MapFS{"proc/meminfo": meminfo}, 24684568 << 10},
		"version 2": {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": text("0::/a/b\n"), "sys/fs/cgroup/a/memory.max": text("1073741824\n"), "sys/fs/cgroup/a/b/memory.max": text("max\n")}, 1 << 30},
		"version 1": {fstest.MapFS{"proc/self/cgroup": text("5:cpu:/x\n4:memory:/x\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": text("2147483648\n")}, 2 << 30},
		"no bound":  {fstest.MapFS{"proc/meminfo": meminfo, "proc/self/cgroup": text("0::/\n"), "sys/fs/cgroup/memory.max": text("max\n")}, 24684568 << 10},
	} {
		if got := machineMemory(c.files); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
	if memoryOf(spec.Memory{Bytes: 7}) != 7 || memoryOf(spec.Memory{Percent: 50}) <= 0 {
		t.Error("memory of the document")
	}
}
