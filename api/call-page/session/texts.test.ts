import { expect, it } from 'vitest';

import { clockText, resultText, sourceFiles, toolText } from './texts.ts';

it('writes times as clocks do', () => {
  expect([clockText(0), clockText(65.9), clockText(-1)]).toEqual(['0:00', '1:05', '0:00']);
});

it('writes a tool call as its function, and its result with its structure', () => {
  const call = { result: '', is_error: false, timestamp: '', duration_ms: 0 };
  expect(toolText({ ...call, name: 'find', arguments: { number: '417', exact: true } })).toBe('find(number: "417", exact: true)');
  expect(toolText({ ...call, name: 'find' })).toBe('find(…)');
  expect([resultText('{"a":1}'), resultText('No such order.')]).toEqual(['{\n  "a": 1\n}', 'No such order.']);
});

it('names each file of the knowledge base once, the best first', () => {
  const source = (filename: string, score: number) => ({ knowledge_base: 'k', document_id: 'd', chunk_id: 'c', filename, score });
  expect(sourceFiles([source('a.md', 0.2), source('b.md', 0.5), source('a.md', 0.9)])).toEqual([
    { filename: 'a.md', score: 0.9 },
    { filename: 'b.md', score: 0.5 },
  ]);
});
