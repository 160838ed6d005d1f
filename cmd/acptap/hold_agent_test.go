package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"
)

// numbered is an update of a session with a number.
func numbered(session string, i int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d"}}}}`, session, i)
}

// holdAgent is a program that copies its stdin to a file. Once a line has come, it says
// as many updates as its second argument in each of the sessions a and b.
func holdAgent() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	var many int
	fmt.Sscan(os.Args[2], &many)
	in := bufio.NewReader(os.Stdin)
	line, _ := in.ReadString('\n')
	file.WriteString(line)
	var said sync.WaitGroup
	said.Go(func() {
		for i := range many {
			fmt.Printf("%s\n%s\n", numbered("a", i), numbered("b", i))
		}
	})
	io.Copy(file, in)
	said.Wait()
}
