/** Bodies of the built-in tools' routes: one variant for each value of `tool_name`. */
import { z } from 'zod';

import { toolVariants, type ToolVariant } from '../../crds/index.ts';
import { forbidding } from '../validation/validate.ts';
import { messages, toolId } from './schema.ts';

export type BuiltinVariant = Exclude<ToolVariant, 'custom'>;

export const builtinVariants = toolVariants.filter((variant) => variant !== 'custom');

const secret = z.string().min(1).max(4096);

const common = { ...toolId, tool_description: z.string().max(1500).nullish(), ...messages };

const calendar = {
  event_type_id: z.union([z.int().min(1).max(2_147_483_647), z.string().min(1).max(64)]),
  cal_api_key: secret,
  timezone: z.string().max(64).nullish(),
};

const variants = {
  sendEmail: {
    tool_name: z.literal('send_email'),
    from_email: z
      .string()
      .max(320)
      .regex(/^[^\s@]+@[^\s@]+$/),
    app_password: secret,
  },
  transferCall: {
    tool_name: z.literal('transfer_call'),
    transfer_to: z
      .string()
      .max(512)
      .regex(/^(\+[1-9][0-9]{1,14}|sips?:.+)$/),
    transfer_type: z.enum(['cold_transfer', 'warm_transfer']).nullish(),
    display_phone_number: z.boolean().nullish(),
  },
  bookCalendar: { tool_name: z.literal('book_calendar'), ...calendar },
  checkCalendarAvailability: { tool_name: z.literal('check_calendar_availability'), ...calendar },
} as const;

const ownFields = [...new Set(Object.values(variants).flatMap((fields) => Object.keys(fields)))];

const { sendEmail, transferCall, bookCalendar, checkCalendarAvailability } = variants;

/** Fields of the other variants are refused. */
export const builtinTool = z.discriminatedUnion('tool_name', [
  forbidding(z.object({ ...sendEmail, ...common }), ownFields),
  forbidding(z.object({ ...transferCall, ...common }), ownFields),
  forbidding(z.object({ ...bookCalendar, ...common }), ownFields),
  forbidding(z.object({ ...checkCalendarAvailability, ...common }), ownFields),
]);

/** By what is stored. `tool_name` has to be that variant's; absent fields keep their value, `null` brings back the default. */
export const builtinToolUpdates = {
  sendEmail: forbidding(
    z.object({
      ...sendEmail,
      from_email: sendEmail.from_email.optional(),
      app_password: sendEmail.app_password.optional(),
      ...common,
    }),
    ownFields,
  ),
  transferCall: forbidding(z.object({ ...transferCall, transfer_to: transferCall.transfer_to.optional(), ...common }), ownFields),
  bookCalendar: forbidding(
    z.object({
      ...bookCalendar,
      event_type_id: calendar.event_type_id.optional(),
      cal_api_key: calendar.cal_api_key.optional(),
      ...common,
    }),
    ownFields,
  ),
  checkCalendarAvailability: forbidding(
    z.object({
      ...checkCalendarAvailability,
      event_type_id: calendar.event_type_id.optional(),
      cal_api_key: calendar.cal_api_key.optional(),
      ...common,
    }),
    ownFields,
  ),
} as const satisfies Record<BuiltinVariant, z.ZodObject>;

export type BuiltinToolCreate = z.output<typeof builtinTool>;
export type BuiltinToolUpdate = z.output<(typeof builtinToolUpdates)[BuiltinVariant]>;
