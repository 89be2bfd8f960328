import type { EndpointRecord } from '../../store/index.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';

/**
 * Returns whether an endpoint is off because of its failures. An edit of the spec since then switches it on again, and so does a later request
 * for a reconcile, for which the spec stays as Git has it.
 */
export function isDisabled(
  record: Pick<EndpointRecord, 'disabledAt' | 'disabledGeneration'> | undefined,
  { generation, requestedAt }: Pick<Endpoint, 'generation' | 'requestedAt'>,
): boolean {
  if (record?.disabledAt === undefined) return false;
  if (requestedAt !== undefined && requestedAt > record.disabledAt.getTime()) return false;
  return record.disabledGeneration === undefined || generation <= record.disabledGeneration;
}
