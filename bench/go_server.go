// SPDX-License-Identifier: GPL-2.0

// A web server that limits its connections as Go programs do: LimitListener does
// not accept while that many are open, so the rest waits in the accept queue.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/netutil"
)

func main() {
	port := flag.Int("port", 80, "to listen on")
	limit := flag.Int("limit", 4, "connections at the same time")
	service := flag.Duration("time", 10*time.Millisecond, "service time")
	flag.Parse()

	body := []byte(strings.Repeat("x", 1024))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(*service)
		w.Write(body)
	})
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(netutil.LimitListener(listener, *limit), nil))
}
