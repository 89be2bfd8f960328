import { describe, expect, it } from 'vitest';

import { organization, startFacade, type RestAnswer } from './facade.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const one = '/v1/public/webhook/subscription';
const all = '/v1/public/webhook/subscriptions';
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? 20_261_121);
const facade = suiteFixture(startFacade);
const other = suiteFixture(() => startFacade({ database: facade.database }));
const org = suiteFixture(() => organization(facade));

interface Item {
  readonly id: string;
  readonly created_at: string;
}

let count = 0;
const make = async (of = org): Promise<Item> => {
  const answer = await of.call('POST', one, { name: `Hook ${++count}`, url: 'https://x.example', enable_signed_webhooks: false });
  expect(answer.status, answer.text).toBe(201);
  return answer.body as Item;
};
const inOrder = (items: readonly Item[]): Item[] =>
  items.toSorted((a, b) => (`${a.created_at}/${a.id}` < `${b.created_at}/${b.id}` ? -1 : 1));

describe('the list of webhook subscriptions', () => {
  it.each([
    ['', 'Field required'],
    ['?page_size=0', expect.stringContaining('1')],
    ['?page_size=101', expect.stringContaining('100')],
    ['?page_size=', expect.any(String)],
    ['?page_size=ten', expect.any(String)],
    ['?page_size=1.5', expect.any(String)],
    ['?pageSize=10', 'Field required', { pageSize: 'Extra inputs are not permitted' }],
  ])('%s: 400 in the group’s shape', async (query, details, others: object = {}) => {
    const answer = await org.call('GET', `${all}${query}`);
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        status: 400,
        type: 'VALIDATION_ERROR',
        message: expect.stringContaining('page_size'),
        details: { page_size: details, ...others },
        timestamp: expect.any(String),
        path: all,
        trace_id: answer.headers.get('x-trace-id'),
      },
    ]);
  });

  it('takes page sizes up to 100, and no page token but its own', async () => {
    for (const size of [1, 100]) expect((await org.call('GET', `${all}?page_size=${size}`)).status).toBe(200);
    for (const token of ['x', 'AAAA', 'x'.repeat(6000)])
      expect((await org.call('GET', `${all}?page_size=1&page_token=${token}`)).body.details).toEqual({ page_token: expect.any(String) });
  });

  it(`shows what a model of it shows, page by page, while subscriptions come and go (seed ${seed})`, async () => {
    const own = await organization(facade);
    const random = mulberry(seed);
    const known = new Map<string, Item>();
    const walks: { after?: Item; token: string | null }[] = [{ token: null }, { token: null }, { token: null }];
    for (let step = 0; step < 150; step += 1) {
      const kind = random();
      if (kind < 0.25 || known.size === 0) {
        const item = await make(own);
        known.set(item.id, item);
      } else if (kind < 0.4) {
        const id = [...known.keys()][Math.floor(random() * known.size)] ?? '';
        expect((await own.call('DELETE', `${one}/${id}`)).status).toBe(200);
        known.delete(id);
      } else {
        const walk = walks[Math.floor(random() * walks.length)] as (typeof walks)[number];
        const size = 1 + Math.floor(random() * 4);
        const query = `page_size=${size}${walk.token === null ? '' : `&page_token=${walk.token}`}`;
        const { body, status, text }: RestAnswer = await own.call('GET', `${all}?${query}`);
        expect(status, text).toBe(200);
        const after = walk.after;
        // The item at which the walk stands may be gone: its place isn't.
        const rest = inOrder([...known.values()])
          .filter((item) => after === undefined || inOrder([item, after])[0] === after)
          .filter(({ id }) => id !== after?.id);
        const expected = rest.slice(0, size);
        expect(body.data.map(({ id }: Item) => id)).toEqual(expected.map(({ id }) => id));
        expect([body.total_count, body.next_page_token !== null]).toEqual([known.size, rest.length > size]);
        const last = expected.at(-1);
        walk.token = body.next_page_token as string | null;
        if (walk.token !== null && last !== undefined) walk.after = last;
        else delete walk.after;
      }
    }
  });

  it('is complete and without doubles while others come and go on another replica', async () => {
    const own = await organization(facade);
    const kept = await Promise.all(Array.from({ length: 15 }, () => make(own)));
    const walk = new AbortController();
    const churn = (async () => {
      while (!walk.signal.aborted) {
        const passing = await Promise.all([make(own), make(own)]);
        await Promise.all(passing.map(({ id }) => other.call('DELETE', `${one}/${id}`, { key: own.key })));
      }
    })();
    const seen: string[] = [];
    let token: string | null = '';
    while (token !== null && seen.length < 1000) {
      const { body }: RestAnswer = await own.call('GET', `${all}?page_size=2${token === '' ? '' : `&page_token=${token}`}`);
      seen.push(...body.data.map(({ id }: Item) => id));
      token = body.next_page_token as string | null;
    }
    walk.abort();
    await churn;
    expect(new Set(seen).size).toBe(seen.length);
    expect(kept.filter(({ id }) => !seen.includes(id))).toEqual([]);
  });
});
