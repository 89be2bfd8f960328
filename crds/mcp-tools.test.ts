import { expect, it } from 'vitest';

import { changesBetween, MCP_TOOLS_LIMIT, missingTools, serverTool, summaryOfChanges, selectTools, type ServerTool } from './mcp-tools.ts';

const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  readOnly: false,
  ...more,
});

it('keeps of a tool what Parley uses, in the form that Postgres can keep', () => {
  expect(serverTool({ name: 'find', description: 'a\0b\uD800', inputSchema: {}, annotations: { readOnlyHint: true } })).toEqual({
    name: 'find',
    description: 'a\uFFFDb\uFFFD',
    parameters: { type: 'object' },
    readOnly: true,
  });
  expect(serverTool({ name: 'find', title: 'Finds.', inputSchema: {} })).toMatchObject({ description: 'Finds.', readOnly: false });
  expect(serverTool({ name: 'find', description: 'x'.repeat(5_000), inputSchema: {} }).description).toHaveLength(4_096);
  expect(serverTool({ name: '', inputSchema: {} })).toMatchObject({ name: '', unusable: 'it has no name' });
  expect(serverTool({ name: 'find', inputSchema: { type: 'string' } })).toEqual({
    name: 'find',
    description: '',
    parameters: {},
    readOnly: false,
    unusable: 'inputSchema.type must be object: a function takes named arguments',
  });
});

it('has one digest for a list in any order, which only the tools that are used change', () => {
  const list = [tool('b'), tool('a'), tool('c')];
  const { digest, tools } = selectTools({ exclude: ['c'] }, list);
  expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(tools.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(selectTools({ exclude: ['c'] }, [tool('a'), tool('c', { description: 'Other.' }), tool('b')]).digest).toBe(digest);
  expect(selectTools({ include: ['a', 'b'] }, list).digest).toBe(digest);
  expect(selectTools({ exclude: ['c'], prefix: 'shop_' }, list).digest).toBe(digest);
  for (const changed of [tool('a', { description: 'Other.' }), tool('a', { parameters: {} }), tool('a', { readOnly: true })])
    expect(selectTools({ exclude: ['c'] }, [changed, tool('b')]).digest).not.toBe(digest);
  expect(
    selectTools(
      {},
      Array.from({ length: 200 }, (_, index) => tool(`t${index}`)),
    ).tools,
  ).toHaveLength(MCP_TOOLS_LIMIT);
});

it('names functions as every model provider takes them, each once', () => {
  const long = 'x'.repeat(70);
  const { tools } = selectTools({ prefix: 'shop.' }, [tool('a.b'), tool('a/b'), tool('a_b'), tool(`${long}1`), tool(`${long}2`)]);
  expect(tools.map(({ functionName }) => functionName)).toEqual([
    'shop_a_b',
    'shop_a_b_2',
    'shop_a_b_3',
    `shop_${'x'.repeat(59)}`,
    `shop_${'x'.repeat(57)}_2`,
  ]);
});

it('says how two lists differ, and what the server lacks', () => {
  const used = selectTools({}, [tool('gone'), tool('same'), tool('said'), tool('typed')]);
  const latest = selectTools({}, [
    tool('same'),
    tool('said', { description: 'Otherwise.' }),
    tool('typed', { parameters: { type: 'object', required: ['id'] } }),
    tool('new'),
  ]);
  const changes = changesBetween(used, latest);
  expect(changes).toEqual([
    { tool: 'gone', change: 'Removed', before: 'Does gone.' },
    { tool: 'new', change: 'Added', after: 'Does new.' },
    { tool: 'said', change: 'Changed', before: 'Does said.', after: 'Otherwise.' },
    { tool: 'typed', change: 'Changed', parametersChanged: true },
  ]);
  expect(summaryOfChanges(changes)).toBe('1 removed (gone), 1 added (new), 2 changed (said, typed)');
  expect(changesBetween(used, used)).toEqual([]);
  expect(missingTools({ include: ['a', 'b'] }, [tool('b')])).toEqual(['a']);
  expect(missingTools({}, [])).toEqual([]);
});

it('shortens a summary of many changes', () => {
  const latest = selectTools(
    {},
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => tool(name)),
  );
  expect(summaryOfChanges(changesBetween(selectTools({}, []), latest))).toBe('7 added (a, b, c, d, e and 2 more)');
});
