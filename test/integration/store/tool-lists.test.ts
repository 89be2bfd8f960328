/** Tests lists of the tools of MCP servers in Postgres: who may see them, who is asked, and who is notified. */
import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const store = suiteFixture(async () => openPatientStore((await migratedDatabase()).url));

const digest = (letter: string): string => letter.repeat(64);
const tools = (description: string) => [{ name: 'echo', description }];

it('gives a due list to one caller, keeps what comes of it, and notifies of what is new', async () => {
  const { toolLists } = store;
  const ref = { org: 'acme', toolUid: 'one' };
  const heard: string[] = [];
  const listening = await new Promise<{ stop(): Promise<void> }>((resolve) => {
    const made = toolLists.listen({
      onChange: ({ org, name }) => void heard.push(`${org}/${name}`),
      onListening: () => setImmediate(() => resolve(made)),
    });
  });
  await toolLists.request(
    ref,
    { toolName: 'shop', request: { url: 'https://a.example' }, requestDigest: digest('a') },
    { acceptNext: false },
  );
  const claims = await Promise.all([1, 2, 3].map(() => toolLists.claim({ limit: 10, forMs: 60_000 })));
  expect(claims.flat()).toEqual([
    { ...ref, toolName: 'shop', request: { url: 'https://a.example' }, requestDigest: digest('a'), failures: 0, known: false },
  ]);
  const claimed = claims.flat()[0]!;

  await toolLists.failed(claimed, 'it is away', { againInMs: 0 });
  expect(await toolLists.get(ref)).toMatchObject({ failure: 'it is away', latest: null, accepted: null, url: 'https://a.example' });
  await eventually(async () => expect(heard).toEqual(['acme/shop']));
  await toolLists.listed(claimed, tools('first'), { againInMs: 0 });
  expect(await toolLists.get(ref)).toMatchObject({ failure: null, latest: tools('first'), accepted: tools('first') });
  await eventually(async () => expect(heard).toHaveLength(2));

  // The same again is no news; another list waits until it is accepted.
  await toolLists.listed(claimed, tools('first'), { againInMs: 0 });
  await toolLists.listed(claimed, tools('second'), { againInMs: 0 });
  await eventually(async () => expect(heard).toHaveLength(3));
  expect(await toolLists.get(ref)).toMatchObject({ latest: tools('second'), accepted: tools('first') });
  await toolLists.accept(ref, tools('second'));
  expect(await toolLists.get(ref)).toMatchObject({ latest: tools('second'), accepted: tools('second') });

  // The list of another server is accepted like that of a new tool; until then agents keep what they have.
  await toolLists.request(
    ref,
    { toolName: 'shop', request: { url: 'https://b.example' }, requestDigest: digest('b') },
    { acceptNext: true },
  );
  expect(await toolLists.get(ref)).toMatchObject({ url: 'https://b.example', accepted: tools('second') });
  await toolLists.listed(claimed, tools('of the former server'), { againInMs: 0 });
  expect(await toolLists.get(ref)).toMatchObject({ latest: tools('second') });
  const [again] = await toolLists.claim({ limit: 10, forMs: 60_000 });
  await toolLists.listed(again!, tools('third'), { againInMs: 60_000 });
  expect(await toolLists.get(ref)).toMatchObject({ latest: tools('third'), accepted: tools('third') });

  expect(await toolLists.get({ ...ref, org: 'globex' })).toBeUndefined();
  await toolLists.remove({ ...ref, org: 'globex' });
  expect(await toolLists.all()).toEqual([ref]);
  await toolLists.remove(ref);
  expect(await toolLists.all()).toEqual([]);
  await listening.stop();
});
