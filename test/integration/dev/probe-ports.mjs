// Run as an account that has nothing: asks each port of the arguments in every way it knows, and prints what was answered.
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';

const timeoutMs = 4_000;
const paths = [
  '/',
  '/metrics',
  '/health',
  '/healthz',
  '/readyz',
  '/livez',
  '/version',
  '/worker',
  '/debug/pprof/',
  '/debug/vars',
  '/api',
  '/api/v1/namespaces',
  '/api/v1/namespaces/default/workflows',
  '/rtc',
  '/v1/models',
  '/v2/ai-agents',
  '/v2/keys/',
];
const grpc = [
  '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo',
  '/temporal.api.workflowservice.v1.WorkflowService/ListNamespaces',
  '/etcdserverpb.KV/Range',
  '/grpc.health.v1.Health/Check',
  '/livekit.RoomService/ListRooms',
];

const quietly = (ask) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs, undefined);
    const done = (answer) => (clearTimeout(timer), resolve(answer));
    try {
      ask(done);
    } catch {
      done(undefined);
    }
  });

const web = (client, port, path, options = {}) =>
  quietly((done) => {
    const request = client.request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...options }, (response) => {
      let body = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk) => (body += chunk))
        .on('end', () => done({ status: response.statusCode, body: body.slice(0, 300) }))
        .on('error', () => done({ status: response.statusCode, body }));
    });
    request
      .on('upgrade', () => done({ status: 101, body: '' }))
      .on('error', () => done(undefined))
      .end(options.body);
  });

const remoteCall = (scheme, port, path) =>
  quietly((done) => {
    const session = http2.connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const end = (answer) => (session.destroy(), done(answer));
    session.on('error', () => end(undefined)).on('close', () => done(undefined));
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
    let head = {};
    stream.on('response', (headers) => (head = headers)).on('trailers', (trailers) => (head = { ...head, ...trailers }));
    stream
      .on('error', () => end(undefined))
      .on('end', () => end({ status: head[':status'], grpc: head['grpc-status'] ?? 'none' }))
      .resume();
    stream.end(Buffer.from([0, 0, 0, 0, 0]));
  });

const raw = (port, bytes) =>
  quietly((done) => {
    let answer = '';
    const socket = net.connect({ host: '127.0.0.1', port }, () => socket.write(bytes));
    socket
      .on('data', (chunk) => (answer += chunk.toString('latin1')))
      .on('error', () => done({ text: answer }))
      .on('close', () => done({ text: answer }));
    setTimeout(() => (socket.destroy(), done({ text: answer })), 2_000);
  });

const startup = (user) => {
  const body = Buffer.from(`\0\x03\0\0user\0${user}\0database\0parley\0\0`, 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
};

const findings = await Promise.all(
  process.argv
    .slice(2)
    .map(Number)
    .map(async (port) => {
      const asked = [];
      const ask = (how, answer) => asked.push(answer.then((known) => ({ how, ...known })));
      for (const [scheme, client] of [
        ['http', http],
        ['https', https],
      ]) {
        for (const path of paths) ask(`${scheme} GET ${path}`, web(client, port, path));
        ask(`${scheme} POST /`, web(client, port, '/', { method: 'POST', body: '{}' }));
        const headers = {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        };
        for (const path of ['/', '/rtc']) ask(`${scheme} websocket ${path}`, web(client, port, path, { headers }));
        for (const path of grpc) ask(`${scheme} gRPC ${path}`, remoteCall(scheme, port, path));
      }
      for (const command of ['PING', 'INFO', 'CONFIG GET *']) ask(`redis ${command}`, raw(port, `${command}\r\n`));
      for (const user of ['parley', 'postgres']) ask(`postgres ${user}`, raw(port, startup(user)));
      const found = await Promise.all(asked);
      return { port, found: found.filter(({ status, text }) => status !== undefined || (text ?? '') !== '') };
    }),
);
process.stdout.write(JSON.stringify({ uid: process.getuid(), findings }), () => process.exit(0));
