import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';

import { StoreError, toStoreError } from './error.ts';

function answer(code: string, detail?: string, message = 'what the server said'): DatabaseError {
  return Object.assign(new DatabaseError(message, 10, 'error'), { code, ...(detail === undefined ? {} : { detail }) });
}

describe('toStoreError', () => {
  it.each([
    ['57P01', 'unavailable'],
    ['57P03', 'unavailable'],
    ['57P04', 'refused'],
    ['57014', 'unavailable'],
    ['08006', 'unavailable'],
    ['53300', 'unavailable'],
    ['40P01', 'unavailable'],
    ['25006', 'unavailable'],
    ['42P01', 'schema'],
    ['22023', 'invalid'],
    ['28P01', 'refused'],
    ['42501', 'refused'],
    ['3D000', 'refused'],
    ['23505', 'conflict'],
    ['23514', 'invalid'],
    ['22P05', 'invalid'],
    ['XX000', 'internal'],
  ])('calls %s %s', (code, kind) => {
    const error = toStoreError(answer(code));
    expect(error).toMatchObject({ kind, sqlState: code, retryable: kind === 'unavailable' });
  });

  it('tells a missing role from a value that Postgres cannot use', () => {
    expect(toStoreError(answer('22023', undefined, 'role "parley_app" does not exist')).kind).toBe('schema');
  });

  it('calls a failed socket unavailable, also when Node tried several addresses', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' });
    for (const error of [refused, new AggregateError([refused, refused])]) {
      expect(toStoreError(error)).toMatchObject({ kind: 'unavailable', message: 'no answer from Postgres: connect ECONNREFUSED ::1:5432' });
    }
  });

  it('carries nothing of the row that the server names in its detail', () => {
    const error = toStoreError(answer('23514', 'Failing row contains (canary).'));
    expect(JSON.stringify([error.message, error.stack, error.cause, Object.entries(error)])).not.toContain('canary');
  });

  it('leaves its own errors alone, and calls a slip in the code a defect', () => {
    const own = new StoreError('conflict', 'as it was');
    expect(toStoreError(own)).toBe(own);
    expect(toStoreError(new TypeError('x is not a function')).kind).toBe('internal');
  });
});
