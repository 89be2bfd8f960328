import { once } from 'node:events';
import { request, type IncomingMessage, type Server } from 'node:http';

import { afterEach, expect, it } from 'vitest';

import { sign } from '../../webhooks/signing/sign.ts';
import { generateSigningKey, parseSigningKey, type SigningKey } from '../../webhooks/signing/signing-keys.ts';
import type { KnownKey } from './known-keys.ts';
import { createReceiver, type SeenDelivery } from './receiver.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

const newKey = (): SigningKey => {
  const key = parseSigningKey(generateSigningKey());
  if (key === undefined) throw new Error('that is no key');
  return key;
};

interface Shown {
  readonly received: Readonly<Record<string, number>>;
  readonly data: readonly SeenDelivery[];
}

async function receiver(keysOf: (organization: string, refresh: boolean) => readonly KnownKey[], remember?: number) {
  const seen: SeenDelivery[] = [];
  const failures: unknown[] = [];
  const server = createReceiver({
    token: 's3cret',
    isOwnHost: (host) => host?.startsWith('127.0.0.1:') === true || host === 'receiver.example',
    keysOf: (organization, { refresh }) => Promise.resolve(keysOf(organization, refresh)),
    onDelivery: (delivery) => seen.push(delivery),
    onFailure: (error) => failures.push(error),
    ...(remember === undefined ? {} : { remember }),
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    seen,
    failures,
    url,
    post: async (options: {
      readonly path?: string;
      readonly id?: string;
      readonly keys?: readonly SigningKey[];
      readonly text?: string;
    }): Promise<number> => {
      const { path = '/in', id = 'evt_1', keys, text = '{"organizationId":"acme","eventName":"Webhook.Test"}' } = options;
      const timestamp = Math.floor(Date.now() / 1000);
      const signature = keys && sign(keys, { id, timestamp, body: Buffer.from(text) });
      const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), ...(signature && { 'webhook-signature': signature }) };
      return (await fetch(url + path, { method: 'POST', body: text, headers })).status;
    },
    shown: async () => (await (await fetch(`${url}/s3cret`)).json()) as Shown,
  };
}

it('takes what a subscription of the organisation has signed, says whose it is, and shows the latest first', async () => {
  const [a, b] = [newKey(), newKey()];
  const known = [
    { subscription: 'crm', key: a },
    { subscription: 'call-log', key: b },
  ];
  const { post, shown, seen } = await receiver((organization) => (organization === 'acme' ? known : []));
  expect(await post({ keys: [b] })).toBe(204);
  expect(await post({ id: 'evt_2', keys: [newKey(), a] })).toBe(204);
  const { received, data } = await shown();
  expect(received).toEqual({ verified: 2, unsigned: 0, refused: 0 });
  expect(data).toMatchObject([
    { verdict: 'verified', subscription: 'crm', webhook_id: 'evt_2', status: 204 },
    { verdict: 'verified', subscription: 'call-log', webhook_id: 'evt_1', event: { eventName: 'Webhook.Test' } },
  ]);
  expect(seen.toReversed()).toEqual(data);
});

it('refuses what is signed with an unknown key, and what names no organisation', async () => {
  const key = newKey();
  const { post, shown } = await receiver((organization) => (organization === 'acme' ? [{ subscription: 'crm', key }] : []));
  expect(await post({ keys: [newKey()] })).toBe(401);
  expect(await post({ keys: [key], text: '{"organizationId":"other"}' })).toBe(401);
  expect(await post({ keys: [key], text: '{"organizationId":"../secrets"}' })).toBe(401);
  expect(await post({ keys: [key], text: 'hello' })).toBe(401);
  expect((await shown()).received).toEqual({ verified: 0, unsigned: 0, refused: 4 });
});

it('looks once more when a key is younger than what it knows', async () => {
  const key = newKey();
  const { post } = await receiver((_organization, refresh) => (refresh ? [{ subscription: 'crm', key }] : []));
  expect(await post({ keys: [key] })).toBe(204);
});

it('takes unsigned deliveries and says so', async () => {
  const { post, shown } = await receiver(() => []);
  expect(await post({})).toBe(204);
  expect((await shown()).data).toMatchObject([{ verdict: 'unsigned' }]);
});

it('answers with the status that the path asks for, and counts how often an event has come', async () => {
  const key = newKey();
  const { post, shown } = await receiver(() => [{ subscription: 'crm', key }]);
  expect(await post({ path: '/crm/status/503', keys: [key] })).toBe(503);
  expect(await post({ path: '/crm/status/200?x=1', keys: [key] })).toBe(200);
  expect(await post({ path: '/status/503', keys: [newKey()] })).toBe(401);
  expect((await shown()).data.map(({ times, status }) => [times, status])).toEqual([
    [3, 401],
    [2, 200],
    [1, 503],
  ]);
});

it('remembers no more than its limit, and takes no endless bodies', async () => {
  const { post, shown } = await receiver(() => [], 2);
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await post({ id });
  expect((await shown()).data.map(({ webhook_id: id }) => id)).toEqual(['evt_3', 'evt_2']);
  expect(await post({ text: 'x'.repeat(3_000_000) }).catch(() => 413)).toBe(413);
});

it('asks the sender to come again when keys can not be looked up', async () => {
  const { post, shown, failures } = await receiver(() => {
    throw new Error('the cluster is unavailable');
  });
  expect(await post({})).toBe(503);
  expect((await shown()).data).toEqual([]);
  expect(failures).toMatchObject([{ message: 'the cluster is unavailable' }]);
});

it('shows nothing to who does not know its address, and answers no name of others', async () => {
  const { url, post, seen } = await receiver(() => []);
  await post({ text: '{"secret":"x"}' });
  for (const path of ['', '/', '/s3cre', '/s3cret/', '/S3CRET', '/s3cret?x', '/favicon.ico']) {
    const answer = await fetch(url + path);
    expect([answer.status, await answer.text()]).toEqual([404, '']);
  }
  const { port } = new URL(url);
  for (const [host, status] of [
    ['attacker.example', 421],
    [`attacker.example:${port}`, 421],
    ['receiver.example', 200],
  ] as const) {
    const [answer] = (await once(request({ port, host: '127.0.0.1', path: '/s3cret', headers: { host } }).end(), 'response')) as [
      IncomingMessage,
    ];
    answer.resume();
    expect(answer.statusCode).toBe(status);
  }
  expect(seen).toHaveLength(1);
});
