import { connect } from 'node:net';

import { describe, expect, it } from 'vitest';

import type { KubeRequest, Transport } from '../../../kube/transport.ts';
import { KubeError } from '../../../kube/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { patientRequestMs } from '../../support/limits.ts';
import { requestClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade } from './facade.ts';

/** Stands in for an API server that takes writes and never answers them. */
class Slow implements Transport {
  readonly server: string;
  readonly #inner: Transport;
  waiting = 0;
  aborted = 0;

  constructor(inner: Transport) {
    this.#inner = inner;
    this.server = inner.server;
  }

  request<T>(request: KubeRequest): Promise<T> {
    if (request.method === 'GET') return this.#inner.request<T>(request);
    this.waiting += 1;
    return new Promise((_resolve, reject) => {
      request.signal?.addEventListener('abort', () => {
        this.aborted += 1;

        reject(new KubeError({ code: 0, reason: 'Aborted', message: 'aborted' }));
      });
    });
  }

  stream(request: KubeRequest) {
    return this.#inner.stream(request);
  }

  close() {
    return this.#inner.close();
  }
}

const { clock, time } = requestClock(patientRequestMs);
const facade = suiteFixture(() => startFacade({ wrap: (transport) => (slow = new Slow(transport)), clock }));
const org = suiteFixture(() => organization(facade));
let slow: Slow;

/** Sends `text` and nothing more, and returns what comes back until the server closes. */
function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => void socket.write(text));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

describe('a request that takes too long', () => {
  it('is answered with 503, and what it was waiting for is given up', async () => {
    const asked = org.call('POST', '/v2/ai-agents', anAgentRequest('Slow'));
    await expect.poll(() => slow.waiting).toBe(1);
    await time.advance(patientRequestMs);
    const answer = await asked;

    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({ error: 'unavailable', message: expect.any(String) });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await expect.poll(() => slow.aborted).toBe(1);
    // The connection and the server are none the worse for it.
    expect((await org.call('GET', '/v2/ai-agents')).status).toBe(200);
  });

  it('is answered with 408 where it is the body that does not come', async () => {
    const answer = raw(
      facade.url,
      `PUT /v2/ai-agents/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await expect.poll(() => time.timers).toBe(1);
    await time.advance(patientRequestMs);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(await answer).toContain('{"error":"request_timeout","message":"');
  });

  it('is cut off where the headers do not come', async () => {
    const shipped = await startFacade({ database: facade.database, patientWithHeaders: false });
    const answer = await raw(shipped.url, 'GET /v2/ai-agents HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('{"error":"request_timeout","message":"');
    await shipped.close();
  });
});
