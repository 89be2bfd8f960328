/**
 * Receives webhooks as a process of its own: `node test/bench/webhooks/sink.ts`. It answers 200 to every POST and keeps when it came; a
 * request to a path that begins with `/hang` is never answered. Says its port on standard output.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let arrivals: string[] = [];
let distinct = new Set<string>();
let hanging = 0;

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (request.method === 'GET') {
    if (path === '/counts') response.end(JSON.stringify({ received: arrivals.length, distinct: distinct.size, hanging }));
    else response.end(arrivals.join('\n'));
    return;
  }
  if (request.method === 'DELETE') {
    arrivals = [];
    distinct = new Set();
    response.end();
    return;
  }
  request.resume();
  request.on('error', () => undefined);
  if (path.startsWith('/hang')) {
    hanging += 1;
    response.once('close', () => (hanging -= 1));
    return;
  }
  request.on('end', () => {
    const key = `${path} ${String(request.headers['webhook-id'])}`;
    arrivals.push(`${key} ${(performance.timeOrigin + performance.now()).toFixed(3)}`);
    distinct.add(key);
    response.writeHead(200).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
