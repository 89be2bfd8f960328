import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ValidationError } from '../http/api-error.ts';
import { testSigning } from '../../test/support/signing.ts';
import { PageTokens } from '../pagination/page-token.ts';
import { listPage } from './list-page.ts';

const tokens = new PageTokens(testSigning('a secret of the deployment'));
const object = (index: number) => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: `x-${index}`, uid: `${index}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
});

describe('a list of those with one state', () => {
  it('has each of them once, and the number of all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean()), fc.integer({ min: 1, max: 4 }), fc.boolean(), async (states, page_size, ready) => {
        const objects = states.map((_, index) => object(index));
        const stateOf = ({ metadata }: { metadata: { uid: string } }) => ({
          ready: states[Number(metadata.uid)] ?? false,
          reason: '',
          message: '',
        });
        const wanted = objects.filter((_, index) => states[index] === ready).map(({ metadata }) => metadata.name);
        const seen: string[] = [];
        let page_token: string | undefined;
        do {
          const page = await listPage(tokens, { list: 'x', objects, query: { page_size, page_token, ready }, stateOf });
          expect(page.total).toBe(wanted.length);
          seen.push(...page.items.map(({ metadata }) => metadata.name));
          page_token = page.next_page_token ?? undefined;
        } while (page_token !== undefined);
        expect(seen.toSorted()).toEqual(wanted.toSorted());
      }),
    );
  });

  it('is another list than the whole one', async () => {
    const objects = [object(1), object(2)];
    const query = { page_size: 1 };
    const stateOf = () => ({ ready: true, reason: '', message: '' });
    const { next_page_token: page_token } = await listPage(tokens, { list: 'x', objects, query, stateOf });
    const other = { list: 'x', objects, query: { ...query, page_token: page_token ?? '', ready: true }, stateOf };
    await expect(listPage(tokens, other)).rejects.toThrow(ValidationError);
  });
});
