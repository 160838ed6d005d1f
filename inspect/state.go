package inspect

import (
	"fmt"

	"github.com/acptap/acptap/record"
)

// stateText says how a tape ended, or that it has not.
func stateText(i record.Info) string {
	switch exit := i.Exit; {
	case i.Live:
		return "● live"
	case exit == nil && !i.Ended.IsZero():
		return "imported"
	case exit == nil:
		return "cut off" // acptap was killed
	case exit.Error != "":
		return "not started"
	case exit.Signal != "":
		return piece(exit.Signal)
	case exit.Code != 0:
		return fmt.Sprintf("exit %d", exit.Code)
	}
	return "ended"
}
