/** Defines parts that the answers of several resources share. */
import { z } from 'zod';

import type { AnswerDescription } from '../http/route.ts';

/** Makes the schema of a page of a list. @param id names the schema in the OpenAPI document */
export function listOf<T extends z.ZodType>(item: T, id: string) {
  return z
    .object({
      data: z.array(item).describe('The objects on this page.'),
      next_page_token: z.string().nullable().describe('For `page_token` of the next page; null on the last one.'),
    })
    .meta({ id });
}

const deletedAnswer = z
  .object({
    data: z.object({}).describe('Always empty.'),
    message: z.string().describe('For people: what was deleted.'),
  })
  .meta({ id: 'Deleted' });

export function deleted(message: string): AnswerDescription {
  return { description: 'It is deleted.', schema: deletedAnswer, example: { data: {}, message } };
}
