import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import type { ApiDependencies } from '../dependencies.ts';
import { notFound } from '../http/api-error.ts';
import { preconditions, requireObject, sendEtag, writeModeOf, writeQuery } from '../http/conditions.ts';
import { readRequest } from '../http/read-request.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { listPage } from '../state/list-page.ts';
import { createPhoneNumber, deletePhoneNumber, getPhoneNumber, listPhoneNumbers, updatePhoneNumber } from './descriptions.ts';
import { PhoneNumberService } from './phone-number-service.ts';
import { phoneNumberUpdates, providerOf, type PhoneNumberUpdate } from './fields.ts';

export function registerPhoneNumbers(
  app: FastifyInstance,
  context: KindContext,
  { store, limits }: Pick<ApiDependencies, 'store' | 'limits'>,
): void {
  const phoneNumbers = new PhoneNumberService({ context, claims: store.numberClaims, limits });
  const view = context.views.phoneNumbers;

  addRoute(app, createPhoneNumber, async ({ query, body, caller, reply }) => {
    const phoneNumber = await phoneNumbers.create(caller, body, { dryRun: query.dry_run });
    sendEtag(reply, phoneNumber.metadata.resourceVersion);
    return reply.code(201).send(await phoneNumbers.view(caller, phoneNumber));
  });

  addRoute(app, listPhoneNumbers, async ({ query, caller }) => {
    const objects = await view.list(caller.org);
    const list = `phone-numbers/${caller.org}`;
    const stateOf = context.states.phoneNumber.bind(context.states);
    const { items, next_page_token } = await listPage(context.pageTokens, { list, objects, query, stateOf });
    return { data: await Promise.all(items.map((phoneNumber) => phoneNumbers.view(caller, phoneNumber))), next_page_token };
  });

  addRoute(app, getPhoneNumber, async ({ params, caller, reply }) => {
    return phoneNumbers.view(caller, requireObject(reply, await view.get(caller.org, params.phone_number_id), 'Phone number'));
  });

  addRoute(app, updatePhoneNumber, async ({ params: { phone_number_id: id }, caller, request, reply }) => {
    const stored = await view.get(caller.org, id);
    if (stored === undefined) throw notFound('Phone number');
    const schema: z.ZodType<PhoneNumberUpdate> = phoneNumberUpdates[providerOf(stored.spec)];
    const { query, body } = readRequest(request, { query: writeQuery, body: schema });
    const phoneNumber = await phoneNumbers.update(caller, id, body, writeModeOf(query, request));
    return phoneNumbers.view(caller, requireObject(reply, phoneNumber, 'Phone number'));
  });

  addRoute(app, deletePhoneNumber, async ({ params, query, caller, request }) => {
    const options = { dryRun: query.dry_run, requireState: preconditions(request) };
    if (!(await phoneNumbers.delete(caller.org, params.phone_number_id, options))) throw notFound('Phone number');
    return { data: {}, message: query.dry_run ? 'The phone number would be deleted' : 'The phone number was deleted' };
  });
}
