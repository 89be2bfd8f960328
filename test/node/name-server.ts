/**
 * Serves the cluster's names from a pod of the node: names of Services, and nothing beyond. Run by itself:
 * node name-server.ts        (KUBERNETES_SERVICE_HOST and the token of its service account)
 * It answers for A alone; every other name or type exists without an answer, or doesn't exist.
 */
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const PORT = 53;
const REFRESH_MS = 500;
const ZONE = 'svc.cluster.local';
const [A, CLASS_IN] = [1, 1];
const [NO_ERROR, FORMAT_ERROR, NO_SUCH_NAME] = [0, 1, 3];

const addresses = new Map<string, string>();

async function refresh(): Promise<void> {
  const token = readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
  const answer = await fetch(`https://${process.env['KUBERNETES_SERVICE_HOST']}/api/v1/services`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { items } = (await answer.json()) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly namespace: string };
      readonly spec: { readonly clusterIP?: string };
    }[];
  };
  addresses.clear();
  for (const { metadata, spec } of items)
    if (spec.clusterIP !== undefined && spec.clusterIP !== 'None')
      addresses.set(`${metadata.name}.${metadata.namespace}.${ZONE}`, spec.clusterIP);
}

/** Returns the question's name in lower case, and where the question ends; undefined where there is none. */
function questionOf(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } | undefined {
  if (message.length < 12 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63 || at + length + 5 > message.length) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(message.toString('latin1', at, at + length).toLowerCase());
    at += length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at), end: at + 4 };
}

function answerTo(message: Buffer): Buffer {
  const question = questionOf(message);
  const address = question && addresses.get(question.name);
  const code = question === undefined ? FORMAT_ERROR : address === undefined ? NO_SUCH_NAME : NO_ERROR;
  const answered = question?.type === A && address !== undefined;
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  // The answer is authoritative, whether recursion was desired or not.
  head.writeUInt16BE(0x8480 | code, 2);
  head.writeUInt16BE(question === undefined ? 0 : 1, 4);
  head.writeUInt16BE(answered ? 1 : 0, 6);
  if (question === undefined) return head;
  const parts = [head, message.subarray(12, question.end)];
  if (answered) {
    const record = Buffer.alloc(12);
    // The name is that of the question, which begins behind the head.
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(A, 2);
    record.writeUInt16BE(CLASS_IN, 4);
    record.writeUInt32BE(1, 6);
    record.writeUInt16BE(4, 10);
    parts.push(record, Buffer.from(address.split('.').map(Number)));
  }
  return Buffer.concat(parts);
}

await refresh();
setInterval(() => void refresh().catch(() => undefined), REFRESH_MS);
const datagrams = createSocket('udp4');
datagrams.on('message', (message, from) => datagrams.send(answerTo(message), from.port, from.address));
datagrams.bind(PORT);
createServer((socket) => {
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const answer = answerTo(received.subarray(2, 2 + received.readUInt16BE(0)));
      received = received.subarray(2 + received.readUInt16BE(0));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.write(Buffer.concat([length, answer]));
    }
  });
}).listen(PORT);
