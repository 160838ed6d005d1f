package probe

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A process is one that the peer started.
type process struct {
	pid  int
	name string
}

func (p process) String() string { return fmt.Sprintf("%s (%d)", p.name, p.pid) }

// marked returns the running processes whose environment contains mark. A process inherits the
// mark from its parent.
func marked(mark string) (all []process) {
	if mark == "" {
		return nil
	}
	want := []byte(markName + "=" + mark)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file) // fails for processes of other users
		if err != nil {
			continue
		}
		dir := filepath.Dir(file)
		for entry := range bytes.SplitSeq(env, []byte{0}) {
			if bytes.Equal(entry, want) && !isZombie(dir) {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				name, _ := os.ReadFile(filepath.Join(dir, "comm"))
				all = append(all, process{pid, strings.TrimSpace(string(name))})
			}
		}
	}
	return all
}

// isZombie reports whether a process has exited but has not been reaped by its parent.
func isZombie(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	i := bytes.LastIndexByte(stat, ')')
	return err != nil || i < 0 || bytes.HasPrefix(stat[i:], []byte(") Z")) || bytes.HasPrefix(stat[i:], []byte(") X"))
}

func killMarked(mark string) {
	for range 10 { // a process may start another one meanwhile
		all := marked(mark)
		if len(all) == 0 {
			return
		}
		for _, p := range all {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// seesChildren reports whether marked works on this system.
const seesChildren = true
