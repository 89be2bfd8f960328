/** Runs programs that listen and that try to reach them, in the network of a pod or of another machine. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

import { NODE_ADDRESS } from './cluster.ts';
import { output } from './output.ts';

export interface ProbeTarget {
  readonly host: string;
  readonly port: number;
  readonly udp?: true;
}

/** The node gets these unused addresses: one of the internet, one private, and the one where clouds keep credentials of machines. */
export const PUBLIC = '203.0.113.10';
export const PRIVATE = '192.168.77.1';
export const METADATA = '169.254.169.254';
/** This is another machine, behind a wire of its own. */
const MACHINE = { name: 'elsewhere', address: '198.51.100.2', router: '198.51.100.1' };

/** Serves each port by TCP and UDP; the first argument is a name to find the process by. */
export const LISTEN = `
for (const port of process.argv.slice(2).map(Number)) {
  require('node:net').createServer((socket) => socket.on('error', () => undefined).end()).listen(port);
  const udp = require('node:dgram').createSocket('udp4').bind(port);
  udp.on('message', (message, from) => udp.send(message, from.port, from.address));
}
setInterval(() => undefined, 1e6);`;

/** Tries each target once; a target that refuses or is silent is not reached. */
const TRY = `
const { connect } = require('node:net');
const tcp = ({ host, port }) => new Promise((done) => {
  const socket = connect({ host, port, timeout: 3000 });
  const end = (reached) => { socket.destroy(); done(reached); };
  socket.on('connect', () => end(true)).on('error', () => end(false)).on('timeout', () => end(false));
});
const udp = ({ host, port }) => new Promise((done) => {
  const socket = require('node:dgram').createSocket('udp4');
  const end = (reached) => { clearInterval(sending); clearTimeout(timer); try { socket.close(); } catch {} done(reached); };
  const send = () => socket.send('ping', port, host, () => undefined);
  const sending = setInterval(send, 500);
  const timer = setTimeout(end, 3000, false);
  socket.on('message', () => end(true)).on('error', () => undefined);
  send();
});
Promise.all(JSON.parse(process.argv[1]).map((target) => (target.udp ? udp : tcp)(target))).then((all) => console.log(JSON.stringify(all)));`;

/** Tries the targets from the network of that process. */
export const tryFrom = (pid: number, targets: readonly ProbeTarget[]): Promise<readonly boolean[]> =>
  tryBy(['nsenter', `--net=/proc/${pid}/ns/net`], targets);

export const tryFromOutside = (targets: readonly ProbeTarget[]): Promise<readonly boolean[]> =>
  tryBy(['ip', 'netns', 'exec', MACHINE.name], targets);

async function tryBy(enter: readonly [string, ...string[]], targets: readonly ProbeTarget[]): Promise<readonly boolean[]> {
  return JSON.parse(await output([...enter, process.execPath, '--eval', TRY, JSON.stringify(targets)])) as readonly boolean[];
}

/** Serves addresses that pods may or may not reach; each server answers every client. */
export async function standIns(): Promise<() => Promise<void>> {
  for (const given of [PUBLIC, PRIVATE, METADATA]) await output(['ip', 'addr', 'replace', `${given}/32`, 'dev', 'lo']);
  const { name, address, router } = MACHINE;
  const wire = `ip netns add ${name} && ip link add wire type veth peer name wire0 netns ${name}
ip addr add ${router}/24 dev wire && ip link set wire up
ip -n ${name} addr add ${address}/24 dev wire0 && ip -n ${name} link set wire0 up && ip -n ${name} route add default via ${router}`;
  await output(['sh', '-ec', wire]);
  const tcp = [
    ...[22, 80, 443, 587, 8443].map((port) => ({ host: PUBLIC, port })),
    ...[443, 5432].map((port) => ({ host: PRIVATE, port })),
    { host: METADATA, port: 80 },
    // LiveKit here takes sound by UDP alone.
    { host: NODE_ADDRESS, port: 7881 },
  ];
  const servers = await Promise.all(
    tcp.map(async ({ host, port }) => {
      const server = createServer((socket) => void socket.on('error', () => undefined).end());
      await new Promise<void>((done, failed) => server.on('error', failed).listen(port, host, done));
      return server;
    }),
  );
  const echo = createSocket('udp4');
  echo.on('message', (message, from) => echo.send(message, from.port, from.address));
  await new Promise<void>((done) => echo.bind(3478, NODE_ADDRESS, done));
  return async () => {
    echo.close();
    for (const server of servers) server.close();
    for (const given of [PUBLIC, PRIVATE, METADATA]) await output(['ip', 'addr', 'del', `${given}/32`, 'dev', 'lo']);
    await output(['ip', 'netns', 'del', MACHINE.name]);
  };
}

/** Listens in the network of that process. @throws Error where it doesn't: a refused connection would prove nothing then */
export async function listenIn(pid: number, port: number): Promise<{ readonly stop: () => void }> {
  const child = spawn('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, '--eval', LISTEN, 'listener', String(port)], {
    stdio: 'ignore',
  });
  const stop = (): void => void child.kill('SIGKILL');
  // The program listens once it can be reached from its own network.
  for (let attempt = 0; attempt < 50; attempt += 1) if ((await tryFrom(pid, [{ host: '127.0.0.1', port }]))[0] === true) return { stop };
  stop();
  throw new Error(`nothing listens at port ${port} in the network of process ${pid}`);
}
