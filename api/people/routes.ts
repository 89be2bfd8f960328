import type { FastifyInstance } from 'fastify';

import type { ErasedPerson, Erasure } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { notFound, ValidationError } from '../http/api-error.ts';
import { addRoute } from '../http/route.ts';
import { issues } from '../validation/issue.ts';
import { erasePerson, getErasure, type ErasureAnswer, type PersonQuery } from './descriptions.ts';

export function registerPeople(app: FastifyInstance, { store }: Pick<ApiDependencies, 'store'>): void {
  const { erasures } = store.calls;

  addRoute(app, erasePerson, async ({ query, caller, reply, timed }) => {
    const person = personIn(query);
    const isOwn = 'phone' in person && (await timed('db', () => erasures.isOwnNumber(caller.org, person.phone)));
    if (isOwn) {
      const msg = 'is a number of your organisation, whose calls are those of many people: give the number of the person';
      throw new ValidationError([issues.value(['query', 'phone'], msg)]);
    }
    const erasure = await timed('db', () => erasures.begin(caller.org, person, { requestedBy: caller.userId ?? caller.keyId }));
    return reply.code(202).send(erasureToRest(erasure));
  });

  addRoute(app, getErasure, async ({ params, caller, timed }) => {
    const erasure = await timed('db', () => erasures.get({ org: caller.org, id: params.erasure_id }));
    if (erasure === undefined) throw notFound('Erasure');
    return erasureToRest(erasure);
  });
}

/** @throws ValidationError unless exactly one person is named */
function personIn({ phone, metadata_key: metadataKey, metadata_value: metadataValue }: PersonQuery): ErasedPerson {
  const refused = (name: string, msg: string): ValidationError => new ValidationError([issues.value(['query', name], msg)]);
  if (phone !== undefined) {
    if (metadataKey !== undefined || metadataValue !== undefined)
      throw refused('phone', 'stands with metadata_key or metadata_value: name the person by one of them, and make two requests for both');
    if (phone.startsWith(' ')) throw refused('phone', 'begins with a space: write + as %2B in an address');
    return { phone };
  }
  if (metadataKey !== undefined && metadataValue !== undefined) return { metadataKey, metadataValue };
  const missing = metadataKey === undefined ? 'metadata_key' : 'metadata_value';
  throw refused(metadataKey === metadataValue ? 'phone' : missing, 'is missing: give phone, or metadata_key and metadata_value');
}

function erasureToRest({ id, state, counts, waitingCalls, createdAt, finishedAt }: Erasure): ErasureAnswer {
  return {
    erasure_id: id,
    status: state,
    counts,
    waiting_calls: waitingCalls,
    created_at: createdAt.toISOString(),
    ...(finishedAt !== null && { finished_at: finishedAt.toISOString() }),
  };
}
