import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { afterEach, describe, expect, it } from 'vitest';

import { fetchPages, type FetchPagesOptions } from '../../../knowledge/websites/fetch-pages.ts';
import type { PageResult } from '../../../knowledge/websites/page.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { openEgress, type TestEgress } from '../../support/open-egress.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { freePort } from '../../support/free-port.ts';
import { Servers } from '../../support/http-servers.ts';
import { eventually } from '../../support/eventually.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const servers = new Servers();
const opened: TestEgress[] = [];
afterEach(async () => {
  opened.splice(0).forEach((egress) => egress.close());
  await servers.stop();
});

/** Limits on this clock are sixty times as long: a page that is slow here is no page that is late. */
const patient: Clock = { ...systemClock, after: (ms, callback) => systemClock.after(ms * 60, callback) };

function newEgress(): TestEgress {
  const egress = openEgress({ allowCidrs: ['127.0.0.0/10'], clock: patient });
  opened.push(egress);
  return egress;
}

/** Starts a site with pages by path; without a robots.txt of its own it has none. Records its requests, in order. */
async function site(pages: Readonly<Record<string, Handler | string>>, address = '127.0.0.1') {
  const asked: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let atOnce = 0;
  let most = 0;
  const server = await servers.http(
    (request, response) => {
      asked.push(request.url ?? '');
      headers.push(request.headers);
      atOnce += 1;
      most = Math.max(most, atOnce);
      response.once('close', () => (atOnce -= 1));
      const page = pages[request.url ?? ''];
      if (page === undefined) response.writeHead(404).end();
      else if (typeof page === 'string') response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
      else page(request, response);
    },
    { address },
  );
  return { at: (path: string) => `http://${address}:${server.port}${path}`, asked, headers, mostAtOnce: () => most, server };
}

async function fetchAll(urls: readonly string[], options: Partial<FetchPagesOptions> = {}): Promise<readonly PageResult[]> {
  const results: PageResult[] = [];
  const limits = { timeoutMs: 600_000, ...options.limits };
  for await (const result of fetchPages(urls, { egress: newEgress(), ...options, limits })) results.push(result);
  return results.sort((a, b) => a.index - b.index);
}

async function fetchOne(url: string, options: Partial<FetchPagesOptions> = {}): Promise<PageResult> {
  const [result, ...more] = await fetchAll([url], options);
  if (result === undefined || more.length > 0) throw new Error(`${more.length + 1} outcomes`);
  return result;
}

const sent =
  (contentType: string | undefined, body: string | Buffer, status = 200): Handler =>
  (_, response) =>
    void response.writeHead(status, contentType === undefined ? {} : { 'content-type': contentType }).end(body);
const redirect =
  (to: string, status = 302): Handler =>
  (_, response) =>
    void response.writeHead(status, { location: to }).end();

describe('a page', () => {
  it('is fetched with its content type and charset, by a crawler that says who it is', async () => {
    const one = await site({ '/a?b=c': sent('text/html;  Charset="Windows-1252"', '<p>h\xe9</p>') });
    const url = one.at('/a?b=c#part');
    expect(await fetchOne(url)).toEqual({
      status: 'fetched',
      index: 0,
      url,
      finalUrl: url,
      contentType: 'text/html;  Charset="Windows-1252"',
      charset: 'windows-1252',
      extension: 'html',
      body: Buffer.from('<p>h\xe9</p>'),
    });
    expect(one.asked).toEqual(['/robots.txt', '/a?b=c']);
    expect(one.headers[1]).toMatchObject({
      'user-agent': expect.stringContaining('Parley') as string,
      accept: expect.stringContaining('text/html') as string,
    });
  });

  it.each([
    ['application/xhtml+xml', '<html/>', 'html'],
    ['application/pdf', '%PDF-1.7', 'pdf'],
    ['text/plain', 'x', 'txt'],
    ['text/markdown; charset=utf-8', '# x', 'txt'],
    ['application/octet-stream', '%PDF-1.7', 'pdf'],
    [undefined, '\n<!-- a --><!DOCTYPE html><html>', 'html'],
  ])('of the type %s is for the parser of its kind', async (type, body, extension) => {
    const one = await site({ '/x': sent(type, body) });
    expect(await fetchOne(one.at('/x'))).toMatchObject({ status: 'fetched', extension });
  });

  it.each(['image/png', 'application/json', 'text/css', 'application/octet-stream', undefined, 'video/mp4', 'application/zip', 'nonsense'])(
    'of the type %s fails by itself',
    async (type) => {
      const one = await site({ '/x': sent(type, 'some bytes'), '/y': 'good' });
      expect(await fetchAll([one.at('/x'), one.at('/y')])).toMatchObject([
        { status: 'failed', code: 'unsupported_content' },
        { status: 'fetched' },
      ]);
    },
  );

  it('may be compressed, and is no bomb', async () => {
    const compressed = (body: Buffer): Handler => sentWith({ 'content-type': 'text/html', 'content-encoding': 'gzip' }, gzipSync(body));
    const one = await site({ '/good': compressed(Buffer.from('<p>packed</p>')), '/bomb': compressed(Buffer.alloc(200_000_000)) });
    const [good, bomb] = await fetchAll([one.at('/good'), one.at('/bomb')]);
    expect(good).toMatchObject({ status: 'fetched', body: Buffer.from('<p>packed</p>') });
    expect(bomb).toMatchObject({ status: 'failed', code: 'too_large' });
  });

  it('is at most as long as allowed', async () => {
    const endless: Handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    };
    const one = await site({ '/fits': sent('text/html', Buffer.alloc(5 * 1024 * 1024, 'x')), '/endless': endless });
    const [fits, long] = await fetchAll([one.at('/fits'), one.at('/endless')]);
    expect(fits).toMatchObject({ status: 'fetched' });
    expect(long).toMatchObject({ status: 'failed', code: 'too_large' });
  });

  it('may not drip for ever, nor may its redirects', async () => {
    // This clock moves on where these answer.
    const clock = new FakeClock();
    const drip: Handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const drop = (): void =>
        void response.write('x', () => {
          clock.tick(20);
          if (!response.destroyed) setImmediate(drop);
        });
      drop();
    };
    const slow: Handler = (_, response) => {
      clock.tick(200);
      response.writeHead(302, { location: '/slow' }).end();
    };
    const one = await site({ '/drip': drip, '/silent': () => clock.tick(500), '/slow': slow, '/quick': 'good' });
    const strict = openEgress({ allowCidrs: ['127.0.0.0/10'], clock });
    opened.push(strict);
    const late = ['/drip', '/silent', '/slow'].map(one.at);
    // Only these pages are limited to half a second.
    const egress: TestEgress = {
      ...strict,
      request: (request) => strict.request({ ...request, ...(!late.includes(request.url) && { timeoutMs: 600_000 }) }),
    };
    const results = await fetchAll([...late, one.at('/quick')], { egress, clock, limits: { timeoutMs: 500 } });
    expect(results).toMatchObject([
      { code: 'timeout', reason: expect.stringContaining('0.5 s') as string },
      { code: 'timeout' },
      { code: 'timeout' },
      { status: 'fetched' },
    ]);
  });

  it.each([401, 403, 404, 410, 418, 500, 501])('that answers %i fails by itself', async (status) => {
    const one = await site({ '/x': sent('text/html', 'an error page', status) });
    const result = await fetchOne(one.at('/x'));
    expect(result).toMatchObject({ status: 'failed', code: 'http_status', reason: expect.stringContaining(String(status)) as string });
    expect(one.asked.filter((path) => path === '/x')).toHaveLength(1);
  });

  it('that is empty fails', async () => {
    const one = await site({ '/x': sent('text/html', ''), '/y': sent(undefined, '', 204) });
    expect(await fetchAll([one.at('/x'), one.at('/y')])).toMatchObject([{ code: 'empty' }, { code: 'empty' }]);
  });

  it('whose server is unavailable, or breaks off, fails', async () => {
    const one = await site({ '/x': (request) => void request.socket.destroy() });
    const results = await fetchAll([`http://127.0.0.1:${await freePort()}/x`, one.at('/x')]);
    expect(results).toMatchObject([
      { code: 'unreachable', reason: expect.stringContaining('ECONNREFUSED') as string },
      { code: 'unreachable' },
    ]);
    // The page was asked for twice, and once on the connection that was kept from the robots.txt.
    expect(one.asked.filter((path) => path === '/x')).toHaveLength(3);
  });

  it('whose name leads where nothing may be called fails for that', async () => {
    const resolver = { resolve: () => Promise.resolve({ addresses: ['127.0.0.1', '10.0.0.1'], ttlSeconds: 0 }) };
    const egress = openEgress({ allowCidrs: ['127.0.0.0/10'], resolver });
    opened.push(egress);
    expect(await fetchOne('http://inside.example/x', { egress })).toMatchObject({ status: 'failed', code: 'forbidden_address' });
  });
});

function sentWith(headers: Readonly<Record<string, string>>, body: Buffer): Handler {
  return (_, response) => void response.writeHead(200, headers).end(body);
}

describe('timeouts', () => {
  /** Answers each path with one status after the other, and then with a page. */
  const after = (...answers: readonly (readonly [number, Readonly<Record<string, string>>])[]): Handler => {
    let count = 0;
    return (_, response) => {
      const [status, headers] = answers[count] ?? [200, { 'content-type': 'text/html' }];
      count += 1;
      response.writeHead(status, headers).end('a page');
    };
  };

  it('is had once, as long as the server asks, within the time of the page', async () => {
    const one = await site({
      '/seconds': after([503, { 'retry-after': '1' }]),
      '/date': after([429, { 'retry-after': new Date(Date.now() + 2000).toUTCString() }]),
      '/nothing': after([429, {}]),
      '/gateway': after([502, {}]),
      '/twice': after([503, { 'retry-after': '0' }], [503, { 'retry-after': '0' }]),
      '/long': after([503, { 'retry-after': '3600' }]),
    });
    const results = await fetchAll(['/seconds', '/date', '/nothing', '/gateway', '/twice', '/long'].map(one.at));
    expect(results.map((result) => (result.status === 'failed' ? result.code : 'fetched'))).toEqual([
      'fetched',
      'fetched',
      'fetched',
      'fetched',
      'http_status',
      'http_status',
    ]);
    expect(one.asked.filter((path) => path === '/twice')).toHaveLength(2);
    expect(one.asked.filter((path) => path === '/long')).toHaveLength(1);
  });

  it('waits as long as it was asked to', async () => {
    const clock = new FakeClock();
    const one = await site({ '/x': after([503, { 'retry-after': '7' }]) });
    const fetching = fetchOne(one.at('/x'), { clock });
    await expect.poll(() => clock.nextIn).toBe(7_000);
    expect(one.asked).toEqual(['/robots.txt', '/x']);
    clock.tick(7_000);
    expect(await fetching).toMatchObject({ status: 'fetched' });
    expect(one.asked).toEqual(['/robots.txt', '/x', '/x']);
  });
});

describe('redirects', () => {
  it('may be written into a page, and are held to the same rules', async () => {
    const victim = await site({ '/': 'secret' }, '127.66.0.1');
    const refresh = (to: string): string => `<meta http-equiv="refresh" content="0; url=${to}"><p>Redirecting…</p>`;
    const one = await site({
      '/x': refresh('/y#part'),
      '/y': 'end',
      '/in': refresh(victim.at('/')),
      '/loop': refresh('/again'),
      '/again': refresh('/loop'),
    });
    expect(await fetchAll(['/x', '/in', '/loop'].map((path) => one.at(path)))).toMatchObject([
      { status: 'fetched', finalUrl: one.at('/y'), body: Buffer.from('end') },
      { code: 'forbidden_address' },
      { code: 'redirect' },
    ]);
    expect(victim.asked).toEqual([]);
  });

  it('are followed, also to another site', async () => {
    const other = await site({ '/end': 'there' }, '127.0.0.2');
    const one = await site({ '/x': redirect('/y', 301), '/y': redirect(other.at('/end#part'), 308) });
    expect(await fetchOne(one.at('/x'))).toMatchObject({ status: 'fetched', url: one.at('/x'), finalUrl: other.at('/end') });
    expect(other.asked).toEqual(['/robots.txt', '/end']);
  });

  it('that lead to the same page are distinguished from pages', async () => {
    const one = await site({ '/a': redirect('/login'), '/b': redirect('/login#b'), '/login': 'please', '/c': 'a page' });
    const results = await fetchAll([one.at('/a'), one.at('/b'), one.at('/c'), one.at('/login')]);
    expect(results).toMatchObject([
      { status: 'fetched', finalUrl: one.at('/login') },
      { status: 'failed', code: 'duplicate', reason: expect.stringContaining(one.at('/a')) as string },
      { status: 'fetched' },
      { status: 'failed', code: 'duplicate' },
    ]);
  });

  it('obey the robots.txt of where they lead', async () => {
    const other = await site({ '/robots.txt': 'User-agent: *\nDisallow: /secret', '/secret/x': 'no' }, '127.0.0.2');
    const one = await site({ '/x': redirect(other.at('/secret/x')) });
    expect(await fetchOne(one.at('/x'))).toMatchObject({ code: 'robots', finalUrl: other.at('/secret/x') });
    expect(other.asked).toEqual(['/robots.txt']);
  });

  it('lead nowhere that may not be called', async () => {
    const victim = await site({}, '127.66.0.1');
    const one = await site({
      '/x': redirect(victim.at('/')),
      '/y': redirect('http://[::ffff:127.66.0.1]/'),
      '/z': redirect('file:///etc/passwd'),
    });
    const results = await fetchAll([one.at('/x'), one.at('/y'), one.at('/z')]);
    expect(results.map((result) => result.status === 'failed' && result.code)).toEqual(Array(3).fill('forbidden_address'));
    expect(victim.asked).toEqual([]);
  });

  it('are at most five', async () => {
    const steps = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`/${index}`, redirect(`/${index + 1}`)]));
    const one = await site({ ...steps, '/7': 'far', '/loop': redirect('/loop') });
    expect(await fetchAll([one.at('/1'), one.at('/2'), one.at('/loop')])).toMatchObject([
      { code: 'redirect' },
      { status: 'fetched', finalUrl: one.at('/7') },
      { code: 'redirect' },
    ]);
  });
});

describe('robots.txt', () => {
  it('is asked for once, and obeyed', async () => {
    const one = await site({ '/robots.txt': 'User-agent: Parley\nDisallow: /no', '/yes': 'a', '/no/a': 'b', '/also': 'c' });
    const results = await fetchAll([one.at('/yes'), one.at('/no/a'), one.at('/also')]);
    expect(results).toMatchObject([
      { status: 'fetched' },
      { code: 'robots', reason: expect.stringContaining('robots.txt') as string },
      { status: 'fetched' },
    ]);
    expect(one.asked).toEqual(['/robots.txt', '/yes', '/also']);
  });

  it.each([
    ['is not there', 404, true],
    ['is not for everyone', 403, true],
    ['is gone for good', 410, true],
    ['is broken', 500, false],
    ['is unavailable', 503, false],
  ])('that %s (%i) allows it: %s', async (_, status, allowed) => {
    const one = await site({ '/robots.txt': sent('text/plain', 'User-agent: *\nDisallow: /', status), '/x': 'x' });
    expect(await fetchOne(one.at('/x'))).toMatchObject(allowed ? { status: 'fetched' } : { code: 'robots' });
  });

  it('may be elsewhere, up to five redirects away', async () => {
    const other = await site({ '/moved': 'User-agent: *\nDisallow: /no' }, '127.0.0.2');
    const one = await site({ '/robots.txt': redirect(other.at('/moved')), '/no': 'a', '/yes': 'b' });
    expect(await fetchAll([one.at('/no'), one.at('/yes')])).toMatchObject([{ code: 'robots' }, { status: 'fetched' }]);
    const loop = await site({ '/robots.txt': redirect('/robots.txt'), '/x': 'x' });
    expect(await fetchOne(loop.at('/x'))).toMatchObject({ status: 'fetched' });
    const inward = await site({ '/robots.txt': redirect('http://127.66.0.1/'), '/x': 'x' });
    expect(await fetchOne(inward.at('/x'))).toMatchObject({ code: 'robots' });
  });

  it('may be endless: its beginning counts', async () => {
    const endless: Handler = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('User-agent: *\nDisallow: /no\n');
      const more = (): void => {
        while (!response.destroyed && response.write(`Disallow: /${'x'.repeat(10_000)}\n`));
      };
      response.on('drain', more);
      more();
    };
    const one = await site({ '/robots.txt': endless, '/no': 'a', '/yes': 'b' });
    expect(await fetchAll([one.at('/no'), one.at('/yes')])).toMatchObject([{ code: 'robots' }, { status: 'fetched' }]);
  });

  it('asks for a pause between pages, which is kept up to a limit', async () => {
    const clock = new FakeClock();
    const pages = { '/1': 'a', '/2': 'b', '/3': 'c' };
    const one = await site({ '/robots.txt': 'User-agent: *\nCrawl-delay: 0.3', ...pages });
    const fetching = fetchAll([one.at('/1'), one.at('/2'), one.at('/3')], { clock });
    for (const asked of [['/1'], ['/1', '/2']]) {
      await expect.poll(() => clock.nextIn).toBe(300);
      expect(one.asked).toEqual(['/robots.txt', ...asked]);
      clock.tick(300);
    }
    expect(await fetching).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'fetched' })));
    const slow = await site({ '/robots.txt': 'User-agent: *\nCrawl-delay: 86400', ...pages });
    const limited = fetchAll([slow.at('/1'), slow.at('/2')], { clock, limits: { maxCrawlDelayMs: 100 } });
    await expect.poll(() => clock.nextIn).toBe(100);
    clock.tick(100);
    expect(await limited).toMatchObject(Array.from({ length: 2 }, () => ({ status: 'fetched' })));
  });
});

describe('a list', () => {
  it('has one outcome for each address, whatever it is, and each address once', async () => {
    const one = await site({ '/a': 'a' });
    const urls = [
      one.at('/a'),
      'nonsense',
      one.at('/a#b'),
      'ftp://x.example/',
      'http://10.0.0.1/',
      'http://user:pw@x.example/',
      'nonsense',
      'http://[::1',
    ];
    const results = await fetchAll(urls);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 3, 4, 5, 7]);
    expect(
      results.slice(1).every((result) => result.status === 'failed' && result.code === 'forbidden_address' && result.reason !== ''),
    ).toBe(true);
    expect(one.asked).toEqual(['/robots.txt', '/a']);
    expect(await fetchAll([])).toEqual([]);
  });

  it('is fetched one at a time from each host, from at most four hosts at once, also behind redirects', async () => {
    let atOnce = 0;
    let most = 0;
    const { promise: several, resolve } = Promise.withResolvers<void>();
    const slow: Handler = (_, response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      if (most > 1) resolve();
      const answer = (): void => {
        atOnce -= 1;
        response.writeHead(200, { 'content-type': 'text/plain' }).end('x');
      };
      // The first page waits for another, and each for many turns of the event loop, to be met by more than there may be.
      void several.then(() => settle(50)).then(answer);
    };
    const target = await site({ '/1': slow, '/2': slow }, '127.0.0.9');
    const hosts = await Promise.all(
      Array.from({ length: 7 }, (_, index) => site({ '/1': slow, '/2': slow, '/3': redirect(target.at('/1')) }, `127.0.0.${index + 1}`)),
    );
    const results = await fetchAll([...hosts.flatMap((host) => [host.at('/1'), host.at('/2'), host.at('/3')]), target.at('/2')]);
    // Seven of them lead to one page.
    expect(results.filter(({ status }) => status === 'fetched')).toHaveLength(16);
    expect(results.filter((result) => result.status === 'failed' && result.code === 'duplicate')).toHaveLength(6);
    expect([...hosts, target].map((host) => host.mostAtOnce())).toEqual(Array(8).fill(1));
    expect(most).toBeLessThanOrEqual(4);
  });

  it('is not held up by one host, and waits for its reader', async () => {
    const stuck = await site({ '/1': () => undefined }, '127.0.0.2');
    const quick = await site(Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`/${index}`, 'x'])));
    const pages = fetchPages([stuck.at('/1'), ...Array.from({ length: 10 }, (_, index) => quick.at(`/${index}`))], {
      egress: newEgress(),
      limits: { timeoutMs: 60_000 },
    });
    for (let count = 0; count < 10; count += 1) {
      const { value } = await pages.next();
      expect(value).toMatchObject({ status: 'fetched', index: count + 1 });
      // The crawl goes not further than one page ahead, and the robots.txt.
      expect(quick.asked.length).toBeLessThanOrEqual(count + 3);
    }
    await eventually(() => expect(stuck.asked).toEqual(['/robots.txt', '/1']));
    // Stopping ends what is under way.
    await pages.return();
    await eventually(() => expect(stuck.server.open()).toBe(0));
  });

  it('stops for a signal', async () => {
    const aborting = new AbortController();
    const reason = new Error('cancelled');
    const stuck = await site({ '/1': () => aborting.abort(reason) });
    await expect(fetchAll([stuck.at('/1'), stuck.at('/2')], { signal: aborting.signal })).rejects.toBe(reason);
    expect(stuck.asked).not.toContain('/2');
    await expect(fetchAll([stuck.at('/1')], { signal: aborting.signal })).rejects.toBe(reason);
  });

  it('stops for a signal that comes while its reader is busy', async () => {
    const one = await site({ '/1': 'a', '/2': () => undefined });
    const aborting = new AbortController();
    const reason = new Error('cancelled');
    const pages = fetchPages([one.at('/1'), one.at('/2')], { egress: newEgress(), signal: aborting.signal });
    expect(await pages.next()).toMatchObject({ value: { status: 'fetched' } });
    await eventually(() => expect(one.asked).toContain('/2'));
    aborting.abort(reason);
    // By then an unhandled rejection would have ended the process.
    await eventually(() => expect(one.server.open()).toBe(0));
    await settle();
    await expect(pages.next()).rejects.toBe(reason);
  });
});
