import { expect, it } from 'vitest';

import { findReachableAgents, MAX_AGENTS } from './handoffs.ts';

const agent = (name: string, ...handoffs: readonly string[]) => ({
  config: { name, agent: { handoffs: handoffs.map((each) => ({ agentRef: { name: each }, when: 'it suits' })) } },
});

async function reachable(first: string, agents: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const all = new Map(Object.entries(agents).map(([name, handoffs]) => [name, agent(name, ...handoffs)]));
  const found = await findReachableAgents(all.get(first)!, (name) => (asked.push(name), all.get(name)));
  return { names: [...found.keys()], asked };
}

it('finds all agents that hand-overs lead to, each once, and not the first one again', async () => {
  const { names, asked } = await reachable('desk', {
    desk: ['billing', 'dentist', 'gone'],
    billing: ['desk', 'refunds'],
    dentist: ['billing'],
    refunds: ['desk'],
    alone: ['desk'],
  });
  expect(names).toEqual(['billing', 'dentist', 'refunds']);
  expect(asked.toSorted()).toEqual(['billing', 'dentist', 'gone', 'refunds']);
});

it('finds nobody for an agent that names nobody', async () => {
  expect((await reachable('desk', { desk: [] })).asked).toEqual([]);
});

it('takes the nearest where there are too many', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `a${index}`);
  const found = await reachable('desk', {
    desk: names,
    ...Object.fromEntries(names.map((name) => [name, [`${name}-b`, `${name}-c`]])),
    ...Object.fromEntries(names.flatMap((name) => [`${name}-b`, `${name}-c`].map((each) => [each, ['desk']]))),
  });
  expect(found.names).toHaveLength(MAX_AGENTS - 1);
  expect(found.names.slice(0, 12)).toEqual(names);
});
