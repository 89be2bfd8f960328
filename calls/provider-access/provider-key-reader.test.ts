import { expect, it } from 'vitest';

import { KubeError, type KubeRequest } from '../../kube/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createProviderKeyReader, ProviderKeyError } from './provider-key-reader.ts';

const ref = { name: 'speech', key: 'deepgram' };
const metadata = { namespace: 'acme', name: 'speech', uid: 'a', resourceVersion: '1' };

function setUp() {
  const clock = new FakeClock();
  const requests: KubeRequest[] = [];
  let answer: () => unknown = () => ({ metadata, data: { deepgram: Buffer.from('first\n').toString('base64'), empty: '' } });
  const keys = createProviderKeyReader({
    clock,
    transport: {
      async request<T>(request: KubeRequest): Promise<T> {
        requests.push(request);
        return answer() as T;
      },
    },
  });
  const failsWith = (code: number, reason: string) => {
    answer = () => {
      throw new KubeError({ code, reason, message: 'something of the API server' });
    };
  };
  const holds = (value: string) => void (answer = () => ({ metadata, data: { deepgram: Buffer.from(value).toString('base64') } }));
  return { clock, requests, keys, failsWith, holds };
}

const failure = (promise: Promise<string>): Promise<ProviderKeyError> =>
  promise.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error as ProviderKeyError,
  );

it('gets one Secret by its name, and looks again after a minute', async () => {
  const { clock, requests, keys, holds } = setUp();
  expect(await Promise.all([keys.read('acme', ref), keys.read('acme', ref)])).toEqual(['first', 'first']);
  expect(requests).toMatchObject([{ method: 'GET', path: '/api/v1/namespaces/acme/secrets/speech' }]);
  holds('second');
  clock.tick(59_000);
  expect(await keys.read('acme', ref)).toBe('first');
  clock.tick(2_000);
  expect(await keys.read('acme', ref)).toBe('second');
  expect(requests).toHaveLength(2);
});

it('goes on with what it knows while the API server is away, for a quarter of an hour', async () => {
  const { clock, keys, failsWith, holds } = setUp();
  await keys.read('acme', ref);
  failsWith(0, 'Unreachable');
  clock.tick(14 * 60_000);
  expect(await keys.read('acme', ref)).toBe('first');
  clock.tick(2 * 60_000);
  expect(await failure(keys.read('acme', ref))).toMatchObject({ reason: 'unavailable' });
  holds('second');
  expect(await keys.read('acme', ref)).toBe('second');
});

it('believes that a Secret is gone, or closed to it', async () => {
  const { clock, keys, failsWith } = setUp();
  await keys.read('acme', ref);
  clock.tick(61_000);
  failsWith(403, 'Forbidden');
  expect(await failure(keys.read('acme', ref))).toMatchObject({ reason: 'forbidden' });
  failsWith(404, 'NotFound');
  expect(await failure(keys.read('acme', ref))).toMatchObject({
    reason: 'missing',
    message: expect.stringContaining('acme/speech') as string,
  });
  failsWith(0, 'Unreachable');
  expect(await failure(keys.read('acme', ref))).toMatchObject({ reason: 'unavailable' });
});

it.each(['empty', 'other'])('says that the key %s is missing', async (key) => {
  const { keys } = setUp();
  const error = await failure(keys.read('acme', { name: 'speech', key }));
  expect(error).toBeInstanceOf(ProviderKeyError);
  expect(error.reason).toBe('missing');
  expect(error.message).toContain(`"${key}"`);
});

it('keeps the organisations apart', async () => {
  const { requests, keys } = setUp();
  await keys.read('acme', ref);
  await keys.read('other', ref);
  expect(requests.map(({ path }) => path.split('/')[4])).toEqual(['acme', 'other']);
});
