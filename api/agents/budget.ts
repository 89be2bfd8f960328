/** `budget` in REST: what the calls of an agent may cost in a day. */
import { z } from 'zod';

export const BUDGET = 'What calls may cost in a day of `timezone`: once it is spent, new ones are refused until midnight';

export const budget = z.object({
  daily: z
    .string()
    .regex(/^[0-9]{1,9}(\.[0-9]{1,6})?$/)
    .describe('An amount, such as `25.00`.'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .describe('ISO 4217; that of the prices of the installation.'),
});
