// SPDX-License-Identifier: GPL-2.0
//
// node node_server.js PORT BACKLOG WORKERS MS LIMIT: a web server as Node programs are:
// whatever comes is accepted, and waits inside for one of a pool of workers, first come
// first served.  LIMIT: of connections at the same time, 0: none.
'use strict';

const http = require('node:http');

const [port, backlog, workers, ms, limit] = process.argv.slice(2).map(Number);
const body = 'x'.repeat(1024);
const waiting = [];
let working = 0;

function work() {
	while (working < workers && waiting.length) {
		const response = waiting.shift();

		working++;
		setTimeout(() => {
			working--;
			response.end(body);
			work();
		}, ms);
	}
}

const server = http.createServer((request, response) => {
	waiting.push(response);
	work();
});

if (limit)
	server.maxConnections = limit;
server.listen({ port, backlog, host: '::' });
