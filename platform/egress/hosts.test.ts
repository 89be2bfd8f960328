import { afterEach, expect, it } from 'vitest';

import { Servers } from '../../test/support/http-servers.ts';
import { openEgress } from '../../test/support/open-egress.ts';
import { parseHosts } from './hosts.ts';

const closing: (() => void)[] = [];
const servers = new Servers();
afterEach(async () => {
  closing.splice(0).forEach((close) => close());
  await servers.stop();
});

it.each([
  ['receiver.example=127.0.0.1', 'receiver.example', '127.0.0.1', undefined],
  ['Receiver.Example.=127.0.0.1:8080', 'receiver.example', '127.0.0.1', 8080],
  ['a=[::1]:65535', 'a', '0:0:0:0:0:0:0:1', 65_535],
  ['a=[::1]', 'a', '0:0:0:0:0:0:0:1', undefined],
])('reads %s', (text, name, address, port) => {
  const host = parseHosts([text]).get(name);
  expect(host).toMatchObject({ address: { text: address } });
  expect(host?.port).toBe(port);
});

it.each(['', 'a', 'a=', '=127.0.0.1', 'a=b', 'a=127.0.0.1:0', 'a=127.0.0.1:65536', 'a=127.0.0.1:x', 'a b=127.0.0.1', '10.0.0.1=127.0.0.1'])(
  'refuses %j',
  (text) => {
    expect(() => parseHosts([text])).toThrow(/name=address/);
  },
);

it('calls a name at the address and port that it is led to, without DNS, under its own name', async () => {
  const { port } = await servers.http((request, response) => response.end(request.headers.host));
  const asked: string[] = [];
  const egress = openEgress({
    allowCidrs: ['127.0.0.0/8'],
    hosts: [`receiver.example=127.0.0.1:${port}`],
    resolver: { resolve: (name) => (asked.push(name), Promise.reject(new Error('not asked'))) },
  });
  closing.push(() => egress.close());
  const answer = await egress.request({ url: 'http://Receiver.example./in', timeoutMs: 600_000, maxBodyBytes: 1000 });
  expect(answer).toMatchObject({ status: 200, address: '127.0.0.1' });
  expect(answer.body.toString()).toBe('receiver.example.');
  expect(asked).toEqual([]);
});

it('opens no address that is forbidden, and no other port by the name', () => {
  const hosts = ['receiver.example=127.0.0.1:9000'];
  const strict = openEgress({ hosts });
  const local = openEgress({ hosts, allowCidrs: ['127.0.0.0/8'] });
  closing.push(
    () => strict.close(),
    () => local.close(),
  );
  expect(strict.check('http://receiver.example/')).toMatchObject({ kind: 'forbidden_address' });
  expect(local.check('http://receiver.example/')).toBeUndefined();
  expect(local.check('http://receiver.example:22/')?.kind).toBe('forbidden_url');
});
