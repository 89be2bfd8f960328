import { Client, Connection, WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type WorkflowStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';

import { errorMessageOf } from '../caught.ts';
import type { Logger } from '../logging.ts';
import type { Temporal } from './access.ts';
import { tracedStarts } from './trace.ts';
import { TemporalUnavailableError } from './unavailable-error.ts';

export interface WorkflowStarterOptions extends Temporal {
  /** Keyword search attributes of the workflows; added to the namespace where it lacks them. */
  readonly searchAttributes?: readonly string[];
  readonly logger: Logger;
}

export interface WorkflowStart extends Omit<WorkflowStartOptions, 'typedSearchAttributes' | 'searchAttributes' | 'priority' | 'args'> {
  readonly args: unknown[];
  /** Values by the name of the search attribute. */
  readonly attributes?: Readonly<Record<string, string | undefined>>;
  /** Servers that know fairness let these take turns. */
  readonly fairnessKey: string;
}

/** Longest wait for Temporal, in milliseconds. */
const TIMEOUT_MS = 3_000;

/** Starts workflows. A workflow that runs already under the id is left running, unless `workflowIdConflictPolicy` says otherwise. */
export class WorkflowStarter {
  readonly client: Client;
  readonly #options: WorkflowStarterOptions;
  #searchable: Promise<boolean> | undefined;

  /** The starter connects when it is first used. */
  constructor(options: WorkflowStarterOptions) {
    const { address, access, namespace } = options;
    this.#options = options;
    const connection = Connection.lazy({ address, ...access, connectTimeout: TIMEOUT_MS });
    this.client = new Client({ connection, namespace, interceptors: { workflow: [tracedStarts] } });
  }

  /** @throws TemporalUnavailableError */
  async start(workflow: string, { attributes = {}, fairnessKey, ...options }: WorkflowStart): Promise<void> {
    try {
      await this.client.connection.withDeadline(Date.now() + TIMEOUT_MS, async () => {
        const typedSearchAttributes = (await this.#knowsAttributes()) ? typed(attributes) : undefined;
        await this.client.workflow.start(workflow, {
          workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          priority: { fairnessKey },
          ...(typedSearchAttributes && { typedSearchAttributes }),
          ...options,
        });
      });
    } catch (error) {
      // The next start checks again: the server may be another one by then.
      this.#searchable = undefined;
      const message = errorMessageOf(error);
      throw new TemporalUnavailableError(`Temporal did not start workflow ${options.workflowId}: ${message}`, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.client.connection.close();
  }

  async #knowsAttributes(): Promise<boolean> {
    const { searchAttributes: names = [], namespace, logger } = this.#options;
    if (names.length === 0) return false;
    this.#searchable ??= ensureSearchAttributes(this.client.connection as Connection, { namespace, names, logger });
    return this.#searchable;
  }
}

function typed(attributes: Readonly<Record<string, string | undefined>>): TypedSearchAttributes {
  return new TypedSearchAttributes(
    Object.entries(attributes).flatMap(([name, value]) =>
      value === undefined ? [] : [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }],
    ),
  );
}

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

/**
 * Makes keyword search attributes known to a Temporal namespace, where it may.
 *
 * @returns false where they are neither known nor can be made: workflows are started without them then
 */
async function ensureSearchAttributes(
  connection: Connection,
  { namespace, names, logger }: { readonly namespace: string; readonly names: readonly string[]; readonly logger: Logger },
): Promise<boolean> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = names.filter((name) => customAttributes[name] === undefined);
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
