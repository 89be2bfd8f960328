import { expect, it } from 'vitest';

import { printExplanation } from './print.ts';

it('shows as a diff which tools of an MCP server wait to be accepted', () => {
  const marked = (mark: string) => (text: string) => `<${mark}>${text}</${mark}>`;
  const text = printExplanation(
    {
      kind: 'Tool',
      namespace: 'acme',
      name: 'shop',
      ready: true,
      summary: 'offered by 1 agent',
      problems: [],
      remarks: [],
      notes: [],
      toolChanges: [
        { tool: 'echo', change: 'Changed', before: 'Says the same.', after: 'Says\nmore.', parametersChanged: true },
        { tool: 'new', change: 'Added', after: 'Is new.' },
        { tool: 'old', change: 'Removed', before: 'Was there.' },
      ],
      refersTo: [],
      referredToBy: [],
    } as unknown as Parameters<typeof printExplanation>[0],
    { style: { bad: marked('bad'), good: marked('good'), weak: marked('weak') } as never, now: 0 },
  );
  expect(text).toContain(
    [
      'Tools of the server that wait to be accepted',
      '  ~ echo',
      '<bad>      - Says the same.</bad>',
      '<good>      + Says more.</good>',
      '      ~ its parameters',
      '  + new',
      '<good>      + Is new.</good>',
      '  - old',
      '<bad>      - Was there.</bad>',
      '',
    ].join('\n'),
  );
});
