/** What an organisation can do to others. Each flood sends until it is stopped; the answers don't matter. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { makeZip } from '../../support/documents/make-zip.ts';

export interface Attacker {
  readonly url: string;
  readonly key: string;
  readonly agent: string;
  readonly base: string;
  /** Of a test of the agent. */
  readonly test: string;
  /** Writes so many events of the organisation. */
  readonly emit: (count: number) => Promise<unknown>;
  readonly signal: AbortSignal;
}

export type Flood = (attacker: Attacker) => Promise<void>;

const JSON_TYPE = 'application/json';

async function send({ url, key, signal }: Attacker, path: string, body: string | Buffer, type = JSON_TYPE, as = key): Promise<void> {
  try {
    const answer = await fetch(new URL(path, url), {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${as}`, 'content-type': type, accept: `${JSON_TYPE}, text/event-stream` },
      signal,
    });
    await answer.arrayBuffer();
  } catch {
    // A refused connection is one more way to be refused; not to spin on it.
    if (!signal.aborted) await delay(10);
  }
}

/** @param inFlight requests under way at any time */
async function repeatedly({ signal }: Attacker, inFlight: number, request: (index: number) => Promise<void>): Promise<void> {
  let index = 0;
  const lane = async (): Promise<void> => {
    while (!signal.aborted) await request(index++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

const bulk = ({ base }: Attacker): string => `/api/v1/knowledge-bases/${base}/documents/bulk`;
const NDJSON = 'application/x-ndjson';
const lines = (count: number, line: (index: number) => object): string =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify(line(index))}\n`).join('');

/** 9,999 lines of fields that nothing reads: 790 KB. */
const unsound = lines(9_999, () => ({ name: 'x', a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 0, k: 1 }));
const badNames = makeZip(Array.from({ length: 10_000 }, (_, index) => ({ name: `no-type-${index}`, content: 'x' })));
const brackets = (round: number): string =>
  lines(8, (index) => ({ name: `b-${round}-${index}.md`, content: `${round} ${index} ${'['.repeat(360_000)}` }));
const smallTexts = (round: number): string =>
  lines(2_000, (index) => ({ name: `s-${round}-${index}.txt`, content: `What is to be known of ${round} and ${index}.` }));
const schema = {
  type: 'object',
  properties: { value: { oneOf: Array.from({ length: 990 }, (_, index) => ({ const: index })) } },
  required: [],
};

export const floods: Readonly<Record<string, Flood>> = {
  ndjson: (attacker) => repeatedly(attacker, 12, () => send(attacker, bulk(attacker), unsound, NDJSON)),
  archives: (attacker) => repeatedly(attacker, 8, () => send(attacker, bulk(attacker), badNames, 'application/zip')),
  'unjoined calls': (attacker) =>
    repeatedly(attacker, 10, () => send(attacker, '/v1/calls/create-web-call', JSON.stringify({ ai_agent_id: attacker.agent }))),
  mcp: (attacker) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_agent', arguments: {} } };
    return repeatedly(attacker, 16, () => send(attacker, '/mcp', JSON.stringify(call)));
  },
  tests: (attacker) =>
    repeatedly(attacker, 8, () => send(attacker, `/v2/ai-agents/${attacker.agent}/test-runs`, JSON.stringify({ tests: [attacker.test] }))),
  schemas: (attacker) =>
    repeatedly(attacker, 8, (index) =>
      send(
        attacker,
        `/v2/ai-agents/${attacker.agent}/custom-tools`,
        JSON.stringify({
          function_tool: { name: `f${index}`, description: 'd', parameters: { ...schema, title: `t${index}` } },
          additional_tool_info: { api: { endpoint: 'https://example.com/', method: 'GET' } },
        }),
      ),
    ),
  markdown: (attacker) => repeatedly(attacker, 4, (index) => send(attacker, bulk(attacker), brackets(index), NDJSON)),
  'slow bodies': (attacker) =>
    repeatedly(attacker, 200, async () => {
      const { hostname, port } = new URL(attacker.url);
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      socket.write(
        `POST /v2/ai-agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${attacker.key}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 100000\r\n\r\n`,
      );
      for (let sent = 0; sent < 30 && !attacker.signal.aborted && !socket.destroyed; sent += 1) {
        socket.write(' ');
        await delay(1_000, undefined, { signal: attacker.signal }).catch(() => undefined);
      }
      socket.destroy();
    }),
  'small files': (attacker) => repeatedly(attacker, 4, (index) => send(attacker, bulk(attacker), smallTexts(index), NDJSON)),
  'webhooks that close or hang': (attacker) => repeatedly(attacker, 1, async () => void (await attacker.emit(500))),
  searches: (attacker) =>
    repeatedly(attacker, 16, (index) =>
      send(attacker, '/api/v1/vector/search', JSON.stringify({ knowledge_base_id: attacker.base, query: `what of ${index}`, top_k: 100 })),
    ),
  'key guessing': (attacker) =>
    repeatedly(attacker, 16, (index) => send(attacker, '/v2/ai-agents', '{}', JSON_TYPE, `parley_${index.toString(36).padStart(40, '0')}`)),
};
