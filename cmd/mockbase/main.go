// Command mockbase is a mock API server, and the tool that goes with it.
//
// main hands the process's arguments, streams and environment to run, which tests call as well. Each command has a file of
// its own; serve.go wires the parts of the server.
package main

import (
	"context"
	"io"
	"log"
	"os"
)

func main() {
	// Libraries write to the standard logger what others sent them, in no format of ours. What matters comes as an error.
	log.SetOutput(io.Discard) //nolint:forbidigo // not to log by it, but to silence it
	os.Exit(run(context.Background(), os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Environ()))
}
