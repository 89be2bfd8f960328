/** Explains an object for the REST API: the same verdict as `parley explain`, with the permissions of the api role. */
import type { ExplanationAnswer } from '../../../api/explain/answers.ts';
import type { ExplainObject } from '../../../api/dependencies.ts';
import { UserError } from '../../../platform/user-error.ts';
import type { Transport } from '../../../kube/index.ts';
import { readOperator } from '../../cluster/operator.ts';
import { Reader } from '../../cluster/reader.ts';
import { assess } from './assess.ts';
import { gather } from './gather.ts';
import { refersTo, type Relation } from './relations.ts';

/** @param leaseNamespace namespace of the operator's Lease */
export function explainerOf(transport: Transport, leaseNamespace: string, clock: { now(): number }): ExplainObject {
  return async ({ kind, org, name }) => {
    const now = clock.now();
    const reader = new Reader(transport);
    const gathered = await existing(gather(reader, org, { kind, name }));
    if (gathered === undefined) return undefined;
    const { object, snapshot } = gathered;
    const operator = await readOperator(new Reader(transport), { namespace: leaseNamespace, installed: false, now });
    const { namespace: _, problems, remarks, notes, ...verdict } = assess({ ...gathered, notes: reader.notes, operator }, now);
    const references = refersTo(object, snapshot, { ...gathered, phoneNumbers: [] });
    return { ...verdict, problems: [...problems], remarks: [...remarks], refers_to: references.flatMap(withParts), notes: [...notes] };
  };
}

/** Lists what an agent's tool refers to behind the tool. */
function withParts({ object, field, state, sound, refersTo: parts = [] }: Relation): ExplanationAnswer['refers_to'] {
  return [{ object, field, state, ...(sound !== undefined && { sound }) }, ...parts.flatMap(withParts)];
}

async function existing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
