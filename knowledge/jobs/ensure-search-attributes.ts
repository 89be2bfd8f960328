import type { Connection } from '@temporalio/client';

import type { Logger } from '../../platform/logging.ts';
import { searchAttributes } from './names.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD`. */
const KEYWORD = 2;

/**
 * Makes the search attributes known to a namespace, where it may.
 * @returns false where they are neither known nor can be made: workflows are started without them then
 */
export async function ensureSearchAttributes(
  connection: Connection,
  { namespace, logger }: { readonly namespace: string; readonly logger: Logger },
): Promise<boolean> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = searchAttributes.filter((name) => customAttributes[name] === undefined);
  if (missing.length === 0) return true;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
    return true;
  } catch (error) {
    logger.warn(
      { err: error, namespace, missing },
      'Temporal does not know these search attributes and does not let us add them: workflows cannot be found by them; add them as Keyword',
    );
    return false;
  }
}
