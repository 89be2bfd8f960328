/** Serves DNS for tests: real packets, with answers that the test chooses at each question. */
import { createSocket, type Socket } from 'node:dgram';

import ipaddr from 'ipaddr.js';

export interface DnsAnswer {
  readonly addresses?: readonly string[];
  /** Targets of SRV records. */
  readonly servers?: readonly string[];
  /** Seconds that the answer holds; default 0: never kept. */
  readonly ttl?: number;
  /** Response code; default NOERROR, or NXDOMAIN where there is no answer for the name at all. */
  readonly code?: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED';
  readonly silent?: boolean;
  /** Holds the answer until it resolves. */
  readonly after?: Promise<unknown>;
}

const types: Readonly<Record<number, string>> = { 1: 'A', 2: 'NS', 28: 'AAAA', 33: 'SRV' };
const codes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 };

export class DnsServer {
  /** Questions that were asked, e.g. `A hooks.example`. */
  readonly questions: string[] = [];
  readonly #socket: Socket = createSocket('udp4');
  readonly #answers: Record<string, () => DnsAnswer> = {};
  #stopped = false;

  /** Returns `address:port`. */
  get address(): string {
    const { address, port } = this.#socket.address();
    return `${address}:${port}`;
  }

  static async start(): Promise<DnsServer> {
    const server = new DnsServer();
    server.#socket.on('message', (query, from) => {
      const { packet, after } = server.#answer(query);
      if (packet === undefined) return;
      const send = (): void => {
        if (!server.#stopped) server.#socket.send(packet, from.port, from.address);
      };
      if (after === undefined) send();
      else void after.then(send);
    });
    await new Promise<void>((resolve) => server.#socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  /** @param question e.g. `A hooks.example`; `NS ` asks for the root */
  set(question: string, answer: DnsAnswer | (() => DnsAnswer)): void {
    this.#answers[question] = typeof answer === 'function' ? answer : () => answer;
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return new Promise((resolve) => {
      this.#socket.close(resolve);
    });
  }

  #answer(query: Buffer): { readonly packet?: Buffer; readonly after?: Promise<unknown> } {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const type = types[query.readUInt16BE(at + 1)] ?? 'AAAA';
    const question = `${type} ${labels.join('.')}`;
    this.questions.push(question);
    const known = this.#answers[question]?.();
    if (known?.silent === true) return {};
    const other = this.#answers[`${type === 'A' ? 'AAAA' : 'A'} ${labels.join('.')}`];
    const code = known === undefined ? (other === undefined ? codes.NXDOMAIN : 0) : known.code === undefined ? 0 : codes[known.code];
    const ttl = known?.ttl ?? 0;
    const records = [
      ...(known?.addresses ?? []).map((address) => addressRecord(address, ttl)),
      ...(known?.servers ?? []).map((server) => serverRecord(server, ttl)),
    ];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    const packet = Buffer.concat([head, query.subarray(12, at + 5), ...records]);
    return { packet, ...(known?.after === undefined ? {} : { after: known.after }) };
  }
}

function addressRecord(address: string, ttl: number): Buffer {
  const bytes = ipaddr.parse(address).toByteArray();
  return record(bytes.length === 4 ? 1 : 28, Buffer.from(bytes), ttl);
}

function serverRecord(server: string, ttl: number): Buffer {
  const labels = server.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  // Priority, weight and port are all alike.
  return record(33, Buffer.concat([Buffer.from([0, 0, 0, 0, 0x13, 0xc4]), ...labels, Buffer.from([0])]), ttl);
}

function record(type: number, data: Buffer, ttl: number): Buffer {
  const head = Buffer.alloc(12);
  // The name is that of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
