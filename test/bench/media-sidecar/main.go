// The measurement of docs/adr/0047: what the media of many calls costs in one Go process next to Node, and in Node itself.
//
//	media-sidecar serve <socket>   joins rooms for a Node process, and gives it utterances
//	media-sidecar call             joins rooms as callers, who say the same over and over (rooms as JSON on standard input)
package main

import (
	"fmt"
	"os"

	"github.com/livekit/protocol/logger"
	lksdk "github.com/livekit/server-sdk-go/v2"
)

func main() {
	lksdk.SetLogger(logger.GetDiscardLogger())
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "call":
		err = call(os.Stdin, os.Stdout)
	default:
		err = fmt.Errorf("usage: media-sidecar serve <socket> | media-sidecar call")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "media-sidecar:", err)
		os.Exit(1)
	}
}
