import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createLogger } from '../platform/logging.ts';
import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { KubeError } from './error.ts';
import { cut, type KubeEvent } from './event-record.ts';
import { EventRecorder } from './events.ts';
import type { KubeRequest } from './transport.ts';
import type { KubeObject } from './types.ts';

const object = (name = 'a'): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'org', name, uid: `uid-${name}`, resourceVersion: '7' },
});

const setUp = () => {
  const clock = new FakeClock();
  const sent: { readonly method: string; readonly path: string; readonly body: KubeEvent }[] = [];
  const failures: KubeError[] = [];
  const lines: string[] = [];
  const transport = {
    request: async <T>({ method, path, body }: KubeRequest): Promise<T> => {
      const failure = failures.shift();
      if (failure) throw failure;
      sent.push({ method, path, body: structuredClone(body) as KubeEvent });
      return undefined as T;
    },
  };
  const logger = createLogger({ role: 'test', level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
  const recorder = new EventRecorder({
    transport,
    controller: 'example.com/operator',
    instance: 'pod-1',
    clock,
    random: () => 0.5,
    logger,
  });
  return { clock, sent, failures, lines, recorder };
};

const refused = (code: number, reason: string): KubeError => new KubeError({ code, reason, message: `${code} ${reason}` });

describe('EventRecorder', () => {
  it('reports what happened in the format of events.k8s.io', async () => {
    const { recorder, sent } = setUp();
    recorder.record(object(), { type: 'Warning', reason: 'SecretMissing', message: 'Secret "x" is missing', action: 'Resolve' });
    await recorder.flush();
    expect(sent).toEqual([
      {
        method: 'POST',
        path: '/apis/events.k8s.io/v1/namespaces/org/events',
        body: {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: { namespace: 'org', name: expect.stringMatching(/^a\.[0-9a-f]+$/) },
          eventTime: '2026-01-01T00:00:00.000000Z',
          type: 'Warning',
          reason: 'SecretMissing',
          action: 'Resolve',
          note: 'Secret "x" is missing',
          reportingController: 'example.com/operator',
          reportingInstance: 'pod-1',
          regarding: { apiVersion: 'example.com/v1', kind: 'Widget', namespace: 'org', name: 'a', uid: 'uid-a', resourceVersion: '7' },
        },
      },
    ]);
  });

  it('keeps events of cluster-scoped objects in the namespace default', async () => {
    const { recorder, sent } = setUp();
    recorder.record(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'org' } },
      { type: 'Normal', reason: 'Created', message: 'created' },
    );
    await recorder.flush();
    expect(sent[0]?.path).toBe('/apis/events.k8s.io/v1/namespaces/default/events');
    expect(sent[0]?.body.regarding).toEqual({ apiVersion: 'v1', kind: 'Namespace', name: 'org' });
  });

  it('counts up the event that is there when the same is said again', async () => {
    const { recorder, sent, clock } = setUp();
    const again = { type: 'Warning', reason: 'Failed', message: 'no' } as const;
    recorder.record(object(), again);
    await recorder.flush();
    await clock.advance(60_000);
    recorder.record(object(), again);
    await recorder.flush();
    recorder.record(object(), { ...again, message: 'something else' });
    recorder.record(object('b'), again);
    await recorder.flush();
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST', 'POST']);
    expect(sent[1]).toMatchObject({
      path: `/apis/events.k8s.io/v1/namespaces/org/events/${sent[0]?.body.metadata.name}`,
      body: { series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } },
    });
  });

  it('sends what is said many times in one go as one event with its count', async () => {
    const { recorder, sent } = setUp();
    for (let n = 0; n < 100; n++) recorder.record(object(), { type: 'Normal', reason: 'Same', message: 'same' });
    await recorder.flush();
    expect(sent).toHaveLength(1);
    expect(sent[0]?.body.series?.count).toBe(100);
  });

  it('begins a new event when the last time is long ago, or the server has forgotten the old one', async () => {
    const { recorder, sent, clock, failures } = setUp();
    const same = { type: 'Normal', reason: 'Same', message: 'same' } as const;
    recorder.record(object(), same);
    await recorder.flush();
    await clock.advance(360_000);
    recorder.record(object(), same);
    await recorder.flush();
    expect(sent.map(({ method, body }) => [method, body.series])).toEqual([
      ['POST', undefined],
      ['POST', undefined],
    ]);
    failures.push(refused(404, 'NotFound'));
    recorder.record(object(), same);
    await clock.advance(1000);
    await recorder.flush();
    expect(sent.slice(2).map(({ method, body }) => [method, body.series?.count])).toEqual([['POST', 2]]);
  });

  it('lets one object be talked about 25 times, then once in five minutes, and others meanwhile', async () => {
    const { recorder, sent, clock } = setUp();
    const say = (n: number, name = 'a'): void => recorder.record(object(name), { type: 'Normal', reason: 'Said', message: `${n}` });
    for (let n = 0; n < 100; n++) say(n);
    say(0, 'b');
    await recorder.flush();
    expect(sent).toHaveLength(26);
    await clock.advance(299_999);
    say(200);
    await recorder.flush();
    expect(sent).toHaveLength(26);
    await clock.advance(2);
    say(201);
    say(202);
    await recorder.flush();
    expect(sent).toHaveLength(27);
  });

  it('does not count one thing that is repeated as many, but bounds how often it is written', async () => {
    const { recorder, sent, clock } = setUp();
    for (let n = 0; n < 50; n++) {
      recorder.record(object(), { type: 'Warning', reason: 'Failed', message: 'no' });
      await recorder.flush();
      await clock.advance(1000);
    }
    expect(sent).toHaveLength(25);
    await clock.advance(300_000);
    recorder.record(object(), { type: 'Warning', reason: 'Failed', message: 'no' });
    await recorder.flush();
    expect(sent.at(-1)?.body.series?.count).toBe(51);
  });

  it('tries again where that may help, and logs the first of a row of failures', async () => {
    const { recorder, sent, failures, clock, lines } = setUp();
    failures.push(refused(503, 'ServiceUnavailable'), refused(0, 'Unreachable'));
    recorder.record(object(), { type: 'Normal', reason: 'A', message: 'a' });
    await clock.advance(10_000);
    expect(sent).toHaveLength(1);
    expect(lines).toEqual([]);
    for (let n = 0; n < 5; n++) {
      failures.push(refused(403, 'Forbidden'));
      recorder.record(object(), { type: 'Normal', reason: 'B', message: `b${n}` });
    }
    await recorder.flush();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('403 Forbidden');
    recorder.record(object(), { type: 'Normal', reason: 'C', message: 'c' });
    await recorder.flush();
    failures.push(refused(403, 'Forbidden'));
    recorder.record(object(), { type: 'Normal', reason: 'D', message: 'd' });
    await recorder.flush();
    expect(lines).toHaveLength(2);
  });

  it('takes the event for sent when only the answer to an earlier attempt was lost', async () => {
    const { recorder, sent, failures, lines } = setUp();
    failures.push(refused(409, 'AlreadyExists'));
    const same = { type: 'Normal', reason: 'A', message: 'a' } as const;
    recorder.record(object(), same);
    await recorder.flush();
    recorder.record(object(), same);
    await recorder.flush();
    expect([lines, sent.map(({ method }) => method)]).toEqual([[], ['PATCH']]);
  });

  it('never throws and never fills the memory, whatever it is given', async () => {
    const { recorder, sent, clock } = setUp();
    recorder.record({} as KubeObject, { type: 'Normal', reason: 'A', message: 'a' });
    for (let n = 0; n < 20_000; n++) recorder.record(object(`w${n}`), { type: 'Normal', reason: 'A', message: 'a' });
    await settle();
    await clock.advance(1000);
    await recorder.flush();
    expect(sent.length).toBeLessThan(2_000);
  });
});

describe('cut', () => {
  it('keeps what fits and cuts between characters what does not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 4, max: 40 }), (text, limit) => {
        const short = cut(text, limit);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(limit);
        expect(short.isWellFormed()).toBe(true);
        assert(short === text || (Buffer.byteLength(text) > limit && text.startsWith(short.slice(0, -1))));
      }),
    );
    expect(cut('é'.repeat(1000), 1024)).toBe(`${'é'.repeat(510)}…`);
    expect(Buffer.byteLength(cut('x'.repeat(5_000_000), 1024))).toBe(1024);
  });
});
