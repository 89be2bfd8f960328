/** Helps the tests of fields: it reads bodies as the facade does, and says where that puts their secrets. */
import type { z } from 'zod';

import type { Encoding } from '../../api/codec/fields.ts';
import { SecretWriter } from '../../api/codec/secrets.ts';
import { validate } from '../../api/validation/validate.ts';

/** @throws Error with the issues of a body that is refused */
export function parsed<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = validate(schema, JSON.parse(JSON.stringify(body)), ['body']);
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.value;
}

/** @param stored values by reference of the object's own Secret, `name` */
export function encoding(name: string, stored: ReadonlyMap<string, string> = new Map()): Encoding & { readonly secrets: SecretWriter } {
  let count = 0;
  return {
    secrets: new SecretWriter({ name, stored, mayMove: false, randomId: () => `r${(count += 1)}` }),
    loc: ['body'],
    found: [],
  };
}
