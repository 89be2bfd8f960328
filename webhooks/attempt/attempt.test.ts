import { createSecretKey } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { createEgress, type Egress, type EgressGuard } from '../../platform/egress/egress.ts';
import { EgressError, type EgressErrorKind } from '../../platform/egress/egress-error.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createAttempt } from './attempt.ts';
import type { AttemptOutcome } from './outcome.ts';

/** Every organisation's requests are answered so. */
function egressWith(request: Egress['request']): Pick<EgressGuard, 'for' | 'dnsAnswered'> {
  const guard = createEgress();
  return { dnsAnswered: (since) => guard.dnsAnswered(since), for: (owner) => ({ ...guard.for(owner), request }) };
}

/** Returns the outcome of an error that no server can be made to cause at will. */
async function outcomeOf(error: Error): Promise<AttemptOutcome> {
  const egress = egressWith(async () => {
    throw error;
  });
  const endpoint = { url: 'https://hooks.example.com/', timeoutMs: 1000 };
  return createAttempt({ egress })({
    org: 'demo',
    endpoint,
    credentials: { keys: [], headers: {} },
    eventId: 'evt_0',
    body: Buffer.from('{}'),
  });
}

const failure = (kind: EgressErrorKind, message = 'hooks.example.com did something'): EgressError =>
  new EgressError({ kind, phase: 'head', host: 'hooks.example.com', message });

it.each(['forbidden_url', 'forbidden_address', 'forbidden_header', 'dns', 'connect', 'tls', 'timeout', 'reset', 'protocol'] as const)(
  'counts %s against the endpoint, and keeps the words',
  async (kind) => {
    expect(await outcomeOf(failure(kind))).toMatchObject({
      succeeded: false,
      ours: false,
      reason: kind,
      message: 'hooks.example.com did something',
    });
  },
);

it.each(['dns_unavailable', 'local', 'closed'] as const)('does not count %s', async (kind) => {
  expect(await outcomeOf(failure(kind))).toMatchObject({ succeeded: false, ours: true, reason: kind });
});

it('does not count unexpected errors', async () => {
  expect(await outcomeOf(new TypeError('x is not a function'))).toMatchObject({ succeeded: false, ours: true, reason: 'local' });
});

it('cuts off what is too long to keep', async () => {
  const outcome = await outcomeOf(failure('protocol', 'x'.repeat(5000)));
  expect(outcome.succeeded ? '' : outcome.message).toMatch(/^x{1023}…$/);
});

it.each([true, false])(
  'counts the time of the attempt, and not how long it takes to find out whose fault it was (DNS answers: %s)',
  async (answers) => {
    const clock = new FakeClock();
    const egress: Pick<EgressGuard, 'for' | 'dnsAnswered'> = {
      ...egressWith(async () => {
        clock.tick(1000);
        throw new EgressError({ kind: 'timeout', phase: 'dns', host: 'hooks.example.com', message: 'took too long' });
      }),
      async dnsAnswered() {
        clock.tick(5000);
        return answers;
      },
    };
    const endpoint = { url: 'https://hooks.example.com/', timeoutMs: 1000 };
    const run = createAttempt({ egress, clock });
    const outcome = await run({ org: 'demo', endpoint, credentials: { keys: [], headers: {} }, eventId: 'evt_0', body: Buffer.from('{}') });
    expect(outcome).toMatchObject({ ours: !answers, reason: answers ? 'timeout' : 'dns_unavailable', durationMs: 1000 });
  },
);

it.each([
  [429, '5', 5_000],
  [503, '5', 5_000],
  [503, '7200', 3_600_000],
  [429, 'Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
  [503, 'soon', undefined],
  [500, '5', undefined],
  [404, '5', undefined],
  [200, '5', undefined],
])('heeds Retry-After of 429 and 503 alone, up to an hour (%d, %s)', async (status, header, expected) => {
  const egress = egressWith(async ({ url }) => ({
    status,
    url,
    headers: { 'retry-after': header },
    body: Buffer.alloc(0),
    truncated: false,
    address: '192.0.2.1',
  }));
  const endpoint = { url: 'https://hooks.example.com/', timeoutMs: 1000 };
  const outcome = await createAttempt({ egress, clock: new FakeClock() })({
    org: 'demo',
    endpoint,
    credentials: { keys: [], headers: {} },
    eventId: 'evt_0',
    body: Buffer.from('{}'),
  });
  expect('retryAfterMs' in outcome ? outcome.retryAfterMs : undefined).toBe(expected);
});

describe('the trace of an event', () => {
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'vendor=1' };

  /** Returns the headers that were sent. */
  async function headersWith(
    own: Readonly<Record<string, string>>,
    sent: typeof trace | undefined,
  ): Promise<Readonly<Record<string, string>>> {
    let headers: Readonly<Record<string, string>> = {};
    const egress = egressWith(async (request) => {
      headers = request.headers as Readonly<Record<string, string>>;
      throw failure('connect');
    });
    const key = {
      org: 'demo',
      endpoint: { url: 'https://hooks.example.com/', timeoutMs: 1000 },
      eventId: 'evt_0',
      body: Buffer.from('{}'),
    };
    await createAttempt({ egress })({ ...key, credentials: { keys: [createSecretKey(Buffer.alloc(32))], headers: own }, trace: sent });
    return headers;
  }

  it('goes along, and changes nothing of what is signed', async () => {
    const [without, sent] = [await headersWith({}, undefined), await headersWith({}, trace)];
    expect(sent).toMatchObject(trace);
    expect(Object.keys(sent).toSorted()).toEqual([...Object.keys(without), 'traceparent', 'tracestate'].toSorted());
  });

  it('gives way to a header that the subscription sets itself', async () => {
    const headers = await headersWith({ TraceParent: 'my own' }, trace);
    expect(headers).toMatchObject({ TraceParent: 'my own' });
    expect([headers['traceparent'], headers['tracestate']]).toEqual([undefined, undefined]);
  });
});
