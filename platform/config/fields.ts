/** Defines shapes that several variables of the configuration have. */
import { z } from 'zod';

export const port = (value: number) => {
  const error = 'must be a port: a whole number from 0 to 65535';
  return z.coerce.number(error).int(error).min(0, error).max(65535, error).default(value);
};
export const milliseconds = (value: number) => z.coerce.number().int().min(0).default(value);
export const flag = (value: boolean) =>
  z
    .enum(['true', 'false'])
    .default(value ? 'true' : 'false')
    .transform((word) => word === 'true');

function parsedJson(value: string, context: z.RefinementCtx<string>, what: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    context.addIssue({ code: 'custom', message: `must be a JSON ${what}` });
    return z.NEVER;
  }
}

/** Reads a JSON object from one variable; undefined where there is none. */
export const jsonObject = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((value, context) => parsedJson(value, context, 'object'))
    .pipe(schema)
    .optional();

/** Reads a JSON array from one variable. @param problemOf says what is wrong with items that are sound one by one */
export const jsonList = <T extends z.ZodType>(
  item: T,
  fallback: string,
  problemOf: (items: readonly z.output<T>[]) => string | undefined = () => undefined,
) =>
  z
    .string()
    .default(fallback)
    .transform((value, context) => parsedJson(value, context, 'array'))
    .pipe(
      z.array(item).superRefine((items, context) => {
        const message = problemOf(items);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    );

/** Checks a text with the function that reads it later; its complaint becomes the problem with the variable. */
export const readable = (read: (value: string) => unknown, fallback: string) =>
  z
    .string()
    .default(fallback)
    .superRefine((value, context) => {
      try {
        read(value);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
      }
    });

export const commaList = (value: string): readonly string[] =>
  value.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));
