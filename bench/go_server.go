// SPDX-License-Identifier: GPL-2.0

// A web server as Go programs are.  -limit: LimitListener does not accept while that
// many connections are open, so the rest waits in the accept queue; 0: whatever comes is
// accepted.  -workers: so many requests are worked on at the same time, the others wait
// inside; 0: all.
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
	limit := flag.Int("limit", 0, "connections at the same time")
	workers := flag.Int("workers", 0, "requests at the same time")
	service := flag.Duration("time", 10*time.Millisecond, "service time")
	flag.Parse()

	body := []byte(strings.Repeat("x", 1024))
	slots := make(chan struct{}, *workers)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		if *workers > 0 {
			slots <- struct{}{}
			defer func() { <-slots }()
		}
		time.Sleep(*service)
		w.Write(body)
	})
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	if *limit > 0 {
		listener = netutil.LimitListener(listener, *limit)
	}
	log.Fatal(http.Serve(listener, nil))
}
