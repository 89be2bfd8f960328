import { z } from 'zod';

/** A client's name for something that is to be made once: 200 characters at most. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[!-~]+$/);
