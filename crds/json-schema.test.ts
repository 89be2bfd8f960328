import { expect, it, vi } from 'vitest';

import { hostileSchemas } from '../test/support/hostile-bodies.ts';
import { jsonSchemaFault, prepareJsonSchemas } from './json-schema.ts';

it('is judged without being compiled, which takes time that grows with the square of its size', () => {
  prepareJsonSchemas();
  const compiled = vi.spyOn(globalThis, 'Function');
  const faults = Object.values(hostileSchemas(0)).map((schema) => jsonSchemaFault(schema));
  expect(compiled).not.toHaveBeenCalled();
  compiled.mockRestore();
  expect(new Set(faults.map((fault) => typeof fault))).toEqual(new Set(['string', 'undefined']));
});
